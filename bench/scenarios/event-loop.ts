/** Measures how long a result of 10 MB, and reading parts of it, block the event loop of a running server. */
import type { Bench } from '../bench.ts'
import { type Endpoint, encodePost, messageOf, STATELESS } from '../mcp.ts'
import { createHostedServer } from '../patchbay.ts'
import { show } from '../report.ts'
import { median } from '../statistics.ts'
import { startTargets } from '../targets.ts'
import { openConnection } from '../wire.ts'

const LARGE_MB = 10
const QUICK_MB = 1
const BUDGET_TOKENS = 2_000
const MAX_BLOCKED_MS = 50
const FIRST_REPLIES = 7
const MAX_FIRST_REPLY_MS = 500

const largeTool = (megabytes: number) => ({
  name: 'large',
  description: 'Returns a large number of records.',
  properties: {},
  required: [],
  template: `/large?mb=${megabytes}`,
})

type Call = { name: string; arguments: Record<string, unknown> }
type Result = { text: string; cacheId: string | undefined }

const openCaller = async (endpoint: Endpoint) => {
  const connection = await openConnection(endpoint.port)
  let id = 0
  const call = async (params: Call): Promise<Result> => {
    const response = await connection.request(
      encodePost(endpoint, STATELESS, { id: ++id, method: 'tools/call', params }),
    )
    const { result, error } = messageOf(response, id) ?? {}
    const text = String(result?.content?.[0]?.text ?? error?.message)
    if (result === undefined || result.isError === true) throw new Error(`${params.name}: ${text.slice(0, 300)}`)
    return { text, cacheId: /"cacheId":"([^"]+)"/.exec(JSON.stringify(result))?.[1] }
  }
  return { call, close: connection.close }
}

/** Returns calls that read parts of a truncated result. They run one after the other. */
const readsOf = (cacheId: string): Record<string, Call> => ({
  'projection and a page': {
    name: 'proxy_filter',
    arguments: { cache_id: cacheId, fields: ['items[].title'], limit: 20 },
  },
  'all of a projection': {
    name: 'proxy_filter',
    arguments: { cache_id: cacheId, fields: ['items[].sku', 'items[].desc'] },
  },
  'a regular expression': {
    name: 'proxy_search',
    arguments: { cache_id: cacheId, pattern: 'number \\d*77$', mode: 'regex' },
  },
  explore: { name: 'proxy_explore', arguments: { cache_id: cacheId } },
  'a new result': {
    name: 'proxy_filter',
    arguments: { tool: 'large', arguments: {}, fields: ['items[].title'], limit: 20 },
  },
})

export const measureEventLoop = async (bench: Bench): Promise<void> => {
  const megabytes = bench.options.quick ? QUICK_MB : LARGE_MB
  const api = await bench.startOwn('fake-api', 'load')
  const { stateless, send } = await startTargets(bench, bench.own, api.url)
  const { child, endpoint } = stateless
  const { path } = await createHostedServer(send, api.url, [largeTool(megabytes)], BUDGET_TOKENS)
  const { call, close } = await openCaller({ ...endpoint, path })
  const rows: string[][] = []
  let worstMs = 0
  const watch = async (what: string, asked: Call): Promise<Result> => {
    await child.blockedMs()
    const from = performance.now()
    const result = await call(asked)
    const tookMs = performance.now() - from
    const blockedMs = await child.blockedMs()
    worstMs = Math.max(worstMs, blockedMs)
    rows.push([what, show(tookMs), show(blockedMs), String(result.text.length)])
    return result
  }
  const { cacheId } = await watch('the call', { name: 'large', arguments: {} })
  if (cacheId === undefined) throw new Error('the result was not truncated to its budget')
  for (const [what, asked] of Object.entries(readsOf(cacheId))) await watch(what, asked)
  const tookMs: number[] = []
  for (let round = 0; round < FIRST_REPLIES; round++) {
    const from = performance.now()
    await call({ name: 'large', arguments: {} })
    tookMs.push(performance.now() - from)
  }
  close()
  bench.addTable({
    title: `Reading parts of a result of ${megabytes} MB, one after the other, through a running server`,
    columns: ['', 'took ms', 'event loop blocked ms', 'characters returned'],
    rows,
  })
  bench.addFigure({
    title: `a call whose result of ${megabytes} MB is cut to ${BUDGET_TOKENS} tokens, p50`,
    required: { atMost: MAX_FIRST_REPLY_MS },
    measured: median(tookMs),
    unit: 'ms',
  })
  bench.addFigure({
    title: `event loop blocked by a result of ${megabytes} MB`,
    required: { atMost: MAX_BLOCKED_MS },
    measured: worstMs,
    unit: 'ms',
  })
}
