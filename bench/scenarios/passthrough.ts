/** Measures the cost of a passthrough server compared with a bare proxy library. */
import { z } from 'zod'
import type { Bench } from '../bench.ts'
import { inTurn } from '../checkouts.ts'
import { type Endpoint, encodeListen, type Session } from '../mcp.ts'
import { type Send, signUp, startPatchbay } from '../patchbay.ts'
import { show } from '../report.ts'
import { addSliceTable, compareSlices, type Load, noteDisturbance, runInTurns, summarize } from '../slices.ts'
import { median, quantile } from '../statistics.ts'
import { nameOf, type Target } from '../targets.ts'
import { WORKS } from '../tools.ts'
import { openEventStream } from '../wire.ts'

const LOADS: readonly Load[] = [
  { title: 'passthrough, tools/list, 16 connections', work: WORKS.list, connections: 16 },
  { title: 'passthrough, tools/call, 50 kB, 16 connections', work: WORKS.search, connections: 16 },
]
const MIN_SPEED = 0.8
const MAX_FIRST_BYTE_MS = 2
const STREAMS = 200

/** Creates a public passthrough server for the upstream at `url`. */
const createPassthrough = async (send: Send, port: number, url: string): Promise<Endpoint> => {
  const made = await send('POST', '/servers', { name: 'Passthrough', access: 'public', presentation: 'passthrough' })
  const { id } = z.object({ id: z.string() }).parse(made)
  await send('POST', `/servers/${id}/upstreams`, { name: 'floor', transport: 'http', url })
  return { port, path: `/s/${id}` }
}

const startTargets = async (bench: Bench): Promise<Target[]> => {
  const api = await bench.startOwn('fake-api', 'load')
  const floor = await bench.startOwn('floor', 'load', ['--api', api.url])
  const bare = await bench.startOwn('bare-proxy', 'server', ['--target', floor.url])
  const targets: Target[] = [
    {
      name: 'httpxy alone',
      child: bare.child,
      endpoint: { port: bare.port, path: '/mcp' },
      era: 'session',
      checkout: undefined,
    },
  ]
  for (const checkout of bench.checkouts) {
    const { child, port } = await startPatchbay(bench, checkout, bench.createDirectory('patchbay'))
    const endpoint = await createPassthrough(await signUp(port), port, `${floor.url}/mcp`)
    targets.push({ name: 'patchbay', child, endpoint, era: 'session', checkout: checkout.name })
  }
  return targets
}

const runLoads = async (bench: Bench, targets: readonly Target[]): Promise<void> => {
  const slices = await runInTurns(bench, targets, LOADS)
  for (const [at, { title }] of LOADS.entries()) {
    const own = slices[at] ?? []
    const summaries = own.map(summarize)
    const [base, ours] = summaries
    if (base === undefined || ours === undefined) continue
    const rows = targets.map((target, index) => [nameOf(target), summaries[index] ?? base] as const)
    addSliceTable(bench, title, rows, base)
    bench.addFigure({
      title: `${title}: requests per second`,
      required: { atLeast: MIN_SPEED },
      measured: ours.requestsPerSecond / base.requestsPerSecond,
      unit: 'x library',
      note: noteDisturbance(base, ours),
    })
    // The bare proxy takes the place of the floor in this comparison.
    compareSlices(bench, title, targets, own, own[0] ?? [])
  }
}

const NO_SESSION: Session = { era: 'session', id: undefined }

/** Returns the time from the request for a stream, on a new connection, to its first event. */
const measureFirstByte = async ({ endpoint }: Target): Promise<number> => {
  const first = Promise.withResolvers<number>()
  const from = performance.now()
  const stream = await openEventStream(endpoint.port, encodeListen(endpoint, NO_SESSION, 1), () =>
    first.resolve(performance.now() - from),
  )
  if (stream.status !== 200) throw new Error(`the request for a stream returned HTTP ${stream.status}`)
  const took = await first.promise
  stream.close()
  return took
}

const runStreams = async (bench: Bench, targets: readonly Target[]): Promise<void> => {
  const count = bench.options.quick ? 20 : STREAMS
  const took = targets.map((): number[] => [])
  for (let turn = 0; turn < count; turn++) {
    for (const [index, target] of inTurn([...targets.entries()], turn)) {
      took[index]?.push(await measureFirstByte(target))
    }
  }
  const [bare = [], ...ours] = took
  bench.addTable({
    title: `First byte of a stream, ms, ${count} streams one after the other`,
    columns: ['', 'median', 'p90'],
    rows: targets.map((target, index) => {
      const times = took[index] ?? []
      return [nameOf(target), show(median(times)), show(quantile(times, 0.9))]
    }),
  })
  bench.addFigure({
    title: 'first byte of a stream, added to the bare library',
    required: { atMost: MAX_FIRST_BYTE_MS },
    measured: median(ours[0] ?? []) - median(bare),
    unit: 'ms',
  })
  bench.compareValues('passthrough, first byte of a stream', 'ms', ours)
}

export const runPassthrough = async (bench: Bench): Promise<void> => {
  const targets = await startTargets(bench)
  await runLoads(bench, targets)
  await runStreams(bench, targets)
}
