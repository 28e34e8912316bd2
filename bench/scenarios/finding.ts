/** A catalogue of a thousand real operations behind find_tools: the size of its tool list, and how well and fast it finds tools. */
import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client'
import { z } from 'zod'
import { countTokens } from '../../src/lib/tokens/tokens.ts'
import { createToolFinder } from '../../src/tool-search/ranking/tool-index.ts'
import type { Bench } from '../bench.ts'
import {
  type Asked,
  askAll,
  CATALOGUE_NAME,
  CATALOGUE_SCRIPT,
  isFound,
  keptAside,
  shareFound,
  tunedOn,
  WHOLE,
} from '../finding/asking.ts'
import { listCatalogue } from '../finding/catalogue.ts'
import { DIRECT, PARAPHRASED } from '../finding/questions.ts'
import { UNSEEN_DIRECT, UNSEEN_PARAPHRASED, UNSEEN_REWORDED } from '../finding/unseen-questions.ts'
import { type Send, signUp, startPatchbay } from '../patchbay.ts'
import { show } from '../report.ts'
import { median, quantile } from '../statistics.ts'
import { attachUpstream, createServer } from '../upstreams.ts'

const MAX_START_TOKENS = 1_000
/** The default token budget of a new server. */
const BUDGET_TOKENS = 8_000
const MIN_DIRECT = 0.95
const MIN_PARAPHRASED = 0.6
const MANY_TOOLS = 10_000
const MAX_SEARCH_MS = 10
const REPEATS = 9

const Found = z.object({ structuredContent: z.object({ tools: z.array(z.object({ name: z.string() })) }) })

const LEVELS = [
  { name: 'shares a word', questions: DIRECT, required: MIN_DIRECT },
  { name: 'paraphrase', questions: PARAPHRASED, required: MIN_PARAPHRASED },
] as const

const UNSEEN_LEVELS = [
  { name: 'shares a word', questions: UNSEEN_DIRECT },
  { name: 'paraphrase', questions: UNSEEN_PARAPHRASED },
  { name: 'the same, as documentation would put it', questions: UNSEEN_REWORDED },
] as const

const toRow = (name: string, asked: readonly Asked[]): string[] => {
  const within = (places: number) => asked.filter(({ rank }) => rank !== undefined && rank <= places).length
  const share = (count: number) => (count / asked.length).toFixed(3)
  return [name, String(asked.length), share(within(1)), share(asked.filter(isFound).length), share(within(10))]
}

const missOf = ({ ask, tools, rank, found }: Asked): string[] => [
  ask,
  tools[0] ?? '',
  rank === undefined ? 'not among the first 10' : `at ${rank}`,
  found[0] ?? 'nothing',
]

/** Creates a server that attaches the catalogue and lists only `find_tools` and a few others. */
const connectToCatalogue = async (send: Send, port: number, args: readonly string[]): Promise<Client> => {
  const uuid = await createServer(send)
  const upstream = { transport: 'stdio', command: process.execPath, args: [CATALOGUE_SCRIPT, ...args] }
  await attachUpstream(send, uuid, { name: CATALOGUE_NAME, ...upstream })
  // With a budget, the list also contains the three tools that read truncated results.
  await send('PATCH', `/servers/${uuid}`, { presentation: 'search', maxResponseTokens: BUDGET_TOKENS })
  const client = new Client({ name: 'bench', version: '1' })
  await client.connect(new StreamableHTTPClientTransport(new URL(`http://127.0.0.1:${port}/s/${uuid}`)))
  return client
}

const createFind =
  (client: Client) =>
  async (query: string): Promise<string[]> => {
    const response = await client.callTool({ name: 'find_tools', arguments: { queries: [query], limit: 10 } })
    return Found.parse(response).structuredContent.tools.map(({ name }) => name)
  }

const COLUMNS = ['', 'questions', 'first', 'first five', 'first ten']

const askThroughClient = async (bench: Bench, send: Send, port: number): Promise<void> => {
  const client = await connectToCatalogue(send, port, [])
  const listed = await client.listTools()
  bench.addFigure({
    title: 'tokens of the tool list in search presentation',
    required: { atMost: MAX_START_TOKENS },
    measured: await countTokens(JSON.stringify(listed.tools)),
    unit: 'tokens',
  })
  const find = createFind(client)
  const rows: string[][] = []
  const misses: string[][] = []
  for (const { name, questions, required } of LEVELS) {
    const [tuned, aside] = [await askAll(tunedOn(questions), find), await askAll(keptAside(questions), find)]
    const all = [...tuned, ...aside]
    rows.push(toRow(`${name}, tuned on`, tuned), toRow(`${name}, kept aside`, aside))
    misses.push(...all.filter(asked => !isFound(asked)).map(missOf))
    bench.addFigure({
      title: `right tool among the first five: ${name}`,
      required: { atLeast: required },
      measured: shareFound(all),
      unit: 'of the questions',
      note: `kept aside ${shareFound(aside).toFixed(3)}`,
    })
  }
  await client.close()
  bench.addTable({ title: `Questions about ${listCatalogue().length} operations`, columns: COLUMNS, rows })
  bench.addTable({
    title: 'Questions that miss',
    columns: ['question', 'right tool', 'rank', 'first tool found'],
    rows: misses,
  })
}

/** Asks the questions that nobody who worked on the ranking had seen, about tools that it was not tuned with. */
const askUnseen = async (bench: Bench, send: Send, port: number): Promise<void> => {
  const client = await connectToCatalogue(send, port, [WHOLE])
  const find = createFind(client)
  const rows: string[][] = []
  for (const { name, questions } of UNSEEN_LEVELS) rows.push(toRow(name, await askAll(questions, find)))
  await client.close()
  const title = `Unseen questions about ${listCatalogue(true).length} operations`
  bench.addTable({ title, columns: COLUMNS, rows })
}

const measureMany = async (bench: Bench): Promise<void> => {
  const catalogue = listCatalogue()
  const copies = Math.ceil(MANY_TOOLS / catalogue.length)
  const tools = Array.from({ length: copies }, (_, copy) =>
    catalogue.map(tool => ({ ...tool, name: `${tool.name}_${copy}` })),
  ).flat()
  const finder = createToolFinder()
  const startedMs = performance.now()
  const index = await finder.buildIndex(tools)
  const builtMs = performance.now() - startedMs
  const asked = [...DIRECT, ...PARAPHRASED].map(({ ask }) => ask)
  const timesMs = asked.map((): number[] => [])
  for (const query of asked) index.find(query, 10)
  for (let repeat = 0; repeat < REPEATS; repeat++) {
    for (const [at, query] of asked.entries()) {
      const from = performance.now()
      index.find(query, 10)
      timesMs[at]?.push(performance.now() - from)
    }
  }
  // Other processes disturb individual searches, so the median for each question is used.
  const medians = timesMs.map(median)
  bench.addTable({
    title: `A search among ${tools.length} tools`,
    columns: ['p50 ms', 'p95 ms', 'slowest question, ms', 'index built once in ms'],
    rows: [[show(median(medians)), show(quantile(medians, 0.95)), show(Math.max(...medians)), show(builtMs)]],
  })
  bench.addFigure({
    title: `search among ${tools.length} tools, slowest question`,
    required: { atMost: MAX_SEARCH_MS },
    measured: Math.max(...medians),
    unit: 'ms',
  })
}

export const runFinding = async (bench: Bench): Promise<void> => {
  const directory = bench.createDirectory('patchbay')
  const { child, port } = await startPatchbay(bench, bench.own, directory, { PATCHBAY_ALLOW_STDIO: 'true' })
  const send = await signUp(port)
  await askThroughClient(bench, send, port)
  await askUnseen(bench, send, port)
  await child.stop()
  await measureMany(bench)
}
