/** What stands between a client and an existing MCP server: calls over a warm connection, and lists out of what is kept. */
import type { Bench } from '../bench.ts'
import { type LoadResult, runLoad } from '../load.ts'
import type { Endpoint } from '../mcp.ts'
import { signUp, startPatchbay } from '../patchbay.ts'
import type { Child } from '../process.ts'
import { show } from '../report.ts'
import { median } from '../statistics.ts'
import { runStdioLoad } from '../stdio-load.ts'
import { startFloor } from '../targets.ts'
import { WORKS, type Work } from '../tools.ts'
import { attachUpstream, createServer, UPSTREAM_SCRIPT } from '../upstreams.ts'
import { FIRST_WARM_UP_MS, noteDisturbance, runSlice, type Slice, summarize, WARM_UP_MS } from './calls.ts'

const MAX_ADDED_MS = 0.5
const MAX_CPU_US = 350
const MAX_LIST_MS = 1
const MIN_LIST_RATIO = 0.9
/** The prefix of every tool that is passed on. */
const PREFIX = 'up'
const LIST_CONNECTIONS = 16

const CALL: Work = WORKS.user
const PROXIED: Work = { ...CALL, title: 'a proxied tools/call', params: { ...CALL.params, name: `${PREFIX}_get_user` } }
const LIST: Work = { ...WORKS.list, expected: `"${PREFIX}_filler_16"` }

type Call = LoadResult & { cpuUs: number; foreignPercent: number }
type Way = { name: string; run: (durationMs: number) => Promise<LoadResult>; server: Child | undefined }

/** One caller; the CPU is that of the server alone, not of a process that it has started. */
const measure = async (bench: Bench, { run, server }: Way): Promise<Call> => {
  await run(WARM_UP_MS)
  const read = server && bench.rig.meter(server)
  const result = await run(bench.options.sliceMs)
  // What is written to the history a moment later is part of the price.
  await new Promise(resolve => setTimeout(resolve, 400))
  const { ownMs = Number.NaN, foreignMs = 0, elapsedMs = 1 } = read?.() ?? {}
  return { ...result, cpuUs: (ownMs * 1_000) / result.answers, foreignPercent: (foreignMs * 100) / elapsedMs }
}

const reportCalls = (bench: Bench, kind: string, direct: readonly Call[], proxied: readonly Call[]): void => {
  const quiet = (calls: readonly Call[]): Call[] =>
    [...calls].sort((a, b) => a.foreignPercent - b.foreignPercent).slice(0, Math.ceil(calls.length / 2))
  const p50Of = (calls: readonly Call[]): number => median(quiet(calls).map(({ p50Ms }) => p50Ms))
  const cpuUs = median(proxied.map(call => call.cpuUs))
  const rows = [
    ['directly', direct, Number.NaN],
    ['through Patchbay', proxied, cpuUs],
  ] as const
  bench.addTable({
    title: `tools/call of an upstream over ${kind}, one caller, warm`,
    columns: ['', 'req/s', 'p50 ms', 'p99 ms', 'CPU us/req', 'errors'],
    rows: rows.map(([name, calls, cpu]) => [
      name,
      show(median(quiet(calls).map(call => call.requestsPerSecond))),
      show(p50Of(calls)),
      show(median(quiet(calls).map(call => call.p99Ms))),
      show(cpu),
      String(calls.flatMap(call => Object.values(call.errors)).reduce((sum, count) => sum + count, 0)),
    ]),
  })
  for (const call of [...direct, ...proxied]) {
    for (const [fault, count] of Object.entries(call.errors))
      bench.addBroken(`upstream over ${kind}: ${count} x ${fault}`)
  }
  bench.addFigure({
    title: `upstream over ${kind}: p50 added at one caller`,
    required: { atMost: MAX_ADDED_MS },
    measured: p50Of(proxied) - p50Of(direct),
    unit: 'ms',
  })
  bench.addFigure({
    title: `upstream over ${kind}: CPU per call`,
    required: { atMost: MAX_CPU_US },
    measured: cpuUs,
    unit: 'us',
  })
}

const reportLists = (bench: Bench, floor: readonly Slice[], ours: readonly Slice[], alone: readonly Call[]): void => {
  const [base, own] = [summarize(floor), summarize(ours)]
  bench.addTable({
    title: `tools/list of an upstream's 20 tools, ${LIST_CONNECTIONS} connections`,
    columns: ['', 'req/s', 'ratio', 'p50 ms', 'CPU us/req'],
    rows: (
      [
        ['floor', base],
        ['patchbay', own],
      ] as const
    ).map(([name, summary]) => [
      name,
      show(summary.requestsPerSecond),
      show(summary.requestsPerSecond / base.requestsPerSecond),
      show(summary.p50Ms),
      show(summary.cpuUs),
    ]),
  })
  for (const [fault, count] of [...base.errors, ...own.errors])
    bench.addBroken(`lists of upstreams: ${count} x ${fault}`)
  bench.addFigure({
    title: "tools/list of an upstream's tools: requests per second",
    required: { atLeast: MIN_LIST_RATIO },
    measured: own.requestsPerSecond / base.requestsPerSecond,
    unit: 'x floor',
    note: noteDisturbance(base, own),
  })
  bench.addFigure({
    title: "tools/list of an upstream's tools: p50 at one caller",
    required: { atMost: MAX_LIST_MS },
    measured: median(alone.map(({ p50Ms }) => p50Ms)),
    unit: 'ms',
  })
}

export const runUpstreams = async (bench: Bench): Promise<void> => {
  const { rounds, quick } = bench.options
  const api = await bench.startOwn('fake-api', 'load')
  const far = await bench.startOwn('mcp-upstream', 'load')
  const floor = await startFloor(bench, api.url, `${PREFIX}_`)
  const piped = bench.rig.startPiped({ name: 'upstream', side: 'server', args: [UPSTREAM_SCRIPT] })
  const directory = bench.createDirectory('patchbay')
  const { child, port } = await startPatchbay(bench.rig, bench.options, directory, { PATCHBAY_ALLOW_STDIO: 'true' })
  const send = await signUp(port)
  const endpointOf = async (upstream: object): Promise<Endpoint> => {
    const uuid = await createServer(send)
    await attachUpstream(send, uuid, { name: PREFIX, ...upstream })
    return { port, path: `/s/${uuid}` }
  }
  const overHttp = await endpointOf({ transport: 'http', url: `${far.url}/mcp` })
  const overStdio = await endpointOf({ transport: 'stdio', command: process.execPath, args: [UPSTREAM_SCRIPT] })

  const single = (endpoint: Endpoint, work: Work) => (durationMs: number) =>
    runLoad({ endpoint, era: 'session', work, connections: 1, durationMs })
  const ways = {
    http: { name: 'HTTP, directly', run: single({ port: far.port, path: '/mcp' }, CALL), server: undefined },
    proxiedHttp: { name: 'HTTP, proxied', run: single(overHttp, PROXIED), server: child },
    stdio: { name: 'stdio, directly', run: (ms: number) => runStdioLoad(piped, CALL, ms), server: undefined },
    proxiedStdio: { name: 'stdio, proxied', run: single(overStdio, PROXIED), server: child },
    list: { name: 'list', run: single(overHttp, LIST), server: child },
  } satisfies Record<string, Way>
  const calls: Record<keyof typeof ways, Call[]> = { http: [], proxiedHttp: [], stdio: [], proxiedStdio: [], list: [] }
  const slices: { floor: Slice[]; ours: Slice[] } = { floor: [], ours: [] }
  const load = { work: LIST, connections: LIST_CONNECTIONS }
  const ours = { name: 'patchbay', child, endpoint: overHttp, era: 'session', isOurs: true } as const

  // V8 takes some seconds of load until it has compiled what is hot.
  for (const way of Object.values(ways)) await way.run(quick ? WARM_UP_MS : FIRST_WARM_UP_MS)
  for (let round = 1; round <= rounds; round++) {
    for (const key of Object.keys(ways) as (keyof typeof ways)[]) calls[key].push(await measure(bench, ways[key]))
    slices.floor.push(await runSlice(bench, floor, load, WARM_UP_MS))
    slices.ours.push(await runSlice(bench, ours, load, WARM_UP_MS))
    bench.say(`round ${round} of ${rounds}`)
  }
  await piped.stop()
  reportCalls(bench, 'HTTP', calls.http, calls.proxiedHttp)
  reportCalls(bench, 'stdio', calls.stdio, calls.proxiedStdio)
  reportLists(bench, slices.floor, slices.ours, calls.list)
}
