/** What Patchbay adds between a client and an existing MCP server: calls over an open connection, and cached lists. */
import type { Bench } from '../bench.ts'
import { type Checkout, inTurn } from '../checkouts.ts'
import { type LoadResult, runLoad } from '../load.ts'
import type { Endpoint } from '../mcp.ts'
import { signUp, startPatchbay } from '../patchbay.ts'
import type { Child } from '../process.ts'
import { show } from '../report.ts'
import {
  addSliceTable,
  compareSlices,
  cpuOf,
  FIRST_WARM_UP_MS,
  type Load,
  noteDisturbance,
  runSlice,
  type Slice,
  settle,
  summarize,
  WARM_UP_MS,
} from '../slices.ts'
import { median } from '../statistics.ts'
import { runStdioLoad } from '../stdio-load.ts'
import { nameOf, startFloor, type Target } from '../targets.ts'
import { WORKS, type Work } from '../tools.ts'
import { attachUpstream, createServer, UPSTREAM_SCRIPT } from '../upstreams.ts'

/** More over HTTP, where the SDK reads each response through web streams. */
const MAX_ADDED_MS = { http: 1, stdio: 0.5 }
const MAX_CPU_US = { http: 700, stdio: 350 }
const MAX_LIST_MS = 1
const MIN_LIST_RATIO = 0.9
/** The prefix of all tools from the upstream. */
const PREFIX = 'up'

const CALL: Work = WORKS.user
const PROXIED: Work = { ...CALL, title: 'a proxied tools/call', params: { ...CALL.params, name: `${PREFIX}_get_user` } }
const LIST: Work = { ...WORKS.list, expected: `"${PREFIX}_filler_16"` }
const LISTS: Load = { title: "tools/list of an upstream's 20 tools, 16 connections", work: LIST, connections: 16 }

type Call = LoadResult & { cpuUs: number; foreignPercent: number }
type Route = { run: (durationMs: number) => Promise<LoadResult>; server: Child | undefined; calls: Call[] }

/** Measures a single caller. The CPU time is that of the server alone, without the processes it started. */
const measure = async (bench: Bench, { run, server, calls }: Route): Promise<void> => {
  await run(WARM_UP_MS)
  const read = server && bench.rig.meter(server)
  const result = await run(bench.options.sliceMs)
  await settle()
  const { ownMs = Number.NaN, foreignMs = 0, elapsedMs = 1 } = read?.() ?? {}
  calls.push({ ...result, cpuUs: (ownMs * 1_000) / result.responses, foreignPercent: (foreignMs * 100) / elapsedMs })
}

const reportCalls = (
  bench: Bench,
  kind: 'http' | 'stdio',
  direct: readonly Call[],
  proxies: readonly Proxies[],
): void => {
  const quiet = (calls: readonly Call[]): Call[] =>
    [...calls].sort((a, b) => a.foreignPercent - b.foreignPercent).slice(0, Math.ceil(calls.length / 2))
  const p50Of = (calls: readonly Call[]): number => median(quiet(calls).map(({ p50Ms }) => p50Ms))
  const rows = [
    { name: 'direct', calls: direct },
    ...proxies.map(each => ({ name: `through ${nameOf(each.lists)}`, calls: each.routes[kind].calls })),
  ]
  bench.addTable({
    title: `tools/call of an upstream over ${kind}, one caller, warm`,
    columns: ['', 'req/s', 'p50 ms', 'p99 ms', 'CPU us/req', 'errors'],
    rows: rows.map(({ name, calls }) => [
      name,
      show(median(quiet(calls).map(call => call.requestsPerSecond))),
      show(p50Of(calls)),
      show(median(quiet(calls).map(call => call.p99Ms))),
      show(median(calls.map(cpuOf))),
      String(calls.flatMap(call => Object.values(call.errors)).reduce((sum, count) => sum + count, 0)),
    ]),
  })
  for (const { name, calls } of rows) {
    for (const [fault, count] of calls.flatMap(({ errors }) => Object.entries(errors))) {
      bench.addBroken(`upstream over ${kind}, ${name}: ${count} x ${fault}`)
    }
  }
  const own = proxies[0]?.routes[kind].calls ?? []
  bench.addFigure({
    title: `upstream over ${kind}: p50 added, with one caller`,
    required: { atMost: MAX_ADDED_MS[kind] },
    measured: p50Of(own) - p50Of(direct),
    unit: 'ms',
  })
  bench.addFigure({
    title: `upstream over ${kind}: CPU per call`,
    required: { atMost: MAX_CPU_US[kind] },
    measured: median(own.map(cpuOf)),
    unit: 'us',
  })
}

const reportLists = (bench: Bench, floor: readonly Slice[], own: Proxies, proxies: readonly Proxies[]): void => {
  const [base, ours] = [summarize(floor), summarize(own.slices)]
  const rows = proxies.map(({ lists, slices }) => [nameOf(lists), summarize(slices)] as const)
  addSliceTable(bench, LISTS.title, [['floor', base], ...rows], base)
  bench.addFigure({
    title: "tools/list of an upstream's tools: requests per second",
    required: { atLeast: MIN_LIST_RATIO },
    measured: ours.requestsPerSecond / base.requestsPerSecond,
    unit: 'x floor',
    note: noteDisturbance(base, ours),
  })
  bench.addFigure({
    title: "tools/list of an upstream's tools: p50 with one caller",
    required: { atMost: MAX_LIST_MS },
    measured: median(own.routes.list.calls.map(({ p50Ms }) => p50Ms)),
    unit: 'ms',
  })
}

const runSingle = (endpoint: Endpoint, work: Work) => (durationMs: number) =>
  runLoad({ endpoint, era: 'session', work, connections: 1, durationMs })

/** Starts a checkout with two servers that have the same upstream, one over HTTP and one over stdio. */
const startProxies = async (bench: Bench, checkout: Checkout, url: string) => {
  const directory = bench.createDirectory('patchbay')
  const { child, port } = await startPatchbay(bench, checkout, directory, { PATCHBAY_ALLOW_STDIO: 'true' })
  const send = await signUp(port)
  const attach = async (upstream: object): Promise<Endpoint> => {
    const uuid = await createServer(send)
    await attachUpstream(send, uuid, { name: PREFIX, ...upstream })
    return { port, path: `/s/${uuid}` }
  }
  const overHttp = await attach({ transport: 'http', url })
  const overStdio = await attach({ transport: 'stdio', command: process.execPath, args: [UPSTREAM_SCRIPT] })
  const route = (endpoint: Endpoint, work: Work): Route => ({
    run: runSingle(endpoint, work),
    server: child,
    calls: [],
  })
  const lists: Target = { name: 'patchbay', child, endpoint: overHttp, era: 'session', checkout: checkout.name }
  const slices: Slice[] = []
  return {
    routes: { http: route(overHttp, PROXIED), stdio: route(overStdio, PROXIED), list: route(overHttp, LIST) },
    lists,
    slices,
  }
}
type Proxies = Awaited<ReturnType<typeof startProxies>>

const compareCalls = (bench: Bench, proxies: readonly Proxies[], reference: readonly Slice[]): void => {
  const [here, other] = proxies
  if (here === undefined || other === undefined) return
  for (const kind of ['http', 'stdio', 'list'] as const) {
    const title = kind === 'list' ? 'tools/list of an upstream, one caller' : `tools/call of an upstream over ${kind}`
    const [ours, theirs] = [here.routes[kind].calls, other.routes[kind].calls]
    bench.addComparison({
      title: `${title}: CPU per request`,
      unit: 'us',
      here: ours.map(cpuOf),
      other: theirs.map(cpuOf),
      reference: reference.map(cpuOf),
    })
    const p50Ms = [ours, theirs].map(calls => calls.map(call => call.p50Ms))
    bench.compareValues(`${title}: p50`, 'ms', p50Ms)
  }
  const targets = proxies.map(({ lists }) => lists)
  const slices = proxies.map(proxy => proxy.slices)
  compareSlices(bench, LISTS.title, targets, slices, reference)
}

export const runUpstreams = async (bench: Bench): Promise<void> => {
  const { rounds, quick } = bench.options
  const api = await bench.startOwn('fake-api', 'load')
  const far = await bench.startOwn('mcp-upstream', 'load')
  const floor = await startFloor(bench, api.url, `${PREFIX}_`)
  const piped = bench.rig.startPiped({ name: 'upstream', side: 'server', args: [UPSTREAM_SCRIPT] })
  const direct: Record<'http' | 'stdio', Route> = {
    http: { run: runSingle({ port: far.port, path: '/mcp' }, CALL), server: undefined, calls: [] },
    stdio: { run: ms => runStdioLoad(piped, CALL, ms), server: undefined, calls: [] },
  }
  const proxies: Proxies[] = []
  for (const checkout of bench.checkouts) proxies.push(await startProxies(bench, checkout, `${far.url}/mcp`))
  const floorSlices: Slice[] = []
  const allRoutes = [direct.http, direct.stdio, ...proxies.flatMap(({ routes }) => Object.values(routes))]

  for (const route of allRoutes) await route.run(quick ? WARM_UP_MS : FIRST_WARM_UP_MS)
  for (let round = 1; round <= rounds; round++) {
    const turn = inTurn(proxies, round)
    for (const kind of ['http', 'stdio'] as const) {
      await measure(bench, direct[kind])
      for (const { routes } of turn) await measure(bench, routes[kind])
    }
    for (const { routes } of turn) await measure(bench, routes.list)
    floorSlices.push(await runSlice(bench, floor, LISTS, WARM_UP_MS))
    for (const { lists, slices } of turn) slices.push(await runSlice(bench, lists, LISTS, WARM_UP_MS))
    bench.log(`round ${round} of ${rounds}`)
  }
  await piped.stop()
  const [own] = proxies
  if (own === undefined) return
  reportCalls(bench, 'http', direct.http.calls, proxies)
  reportCalls(bench, 'stdio', direct.stdio.calls, proxies)
  reportLists(bench, floorSlices, own, proxies)
  compareCalls(bench, proxies, floorSlices)
}
