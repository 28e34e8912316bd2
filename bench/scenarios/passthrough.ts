/** What passing requests on takes, beside the bare library that does it. */
import { z } from 'zod'
import type { Bench } from '../bench.ts'
import { type Endpoint, encodeListen, type Session } from '../mcp.ts'
import { type Send, signUp, startPatchbay } from '../patchbay.ts'
import { show } from '../report.ts'
import { median, quantile } from '../statistics.ts'
import type { Target } from '../targets.ts'
import { WORKS } from '../tools.ts'
import { openEventStream } from '../wire.ts'
import {
  COLUMNS,
  FIRST_WARM_UP_MS,
  type Load,
  noteDisturbance,
  runSlice,
  type Slice,
  summarize,
  toRow,
  WARM_UP_MS,
} from './calls.ts'

const LOADS: readonly { title: string; load: Load }[] = [
  { title: 'tools/list passed on, 16 connections', load: { work: WORKS.list, connections: 16 } },
  { title: 'tools/call, 50 kB, passed on, 16 connections', load: { work: WORKS.search, connections: 16 } },
]
const MIN_SPEED = 0.8
const MAX_FIRST_BYTE_MS = 2
const STREAMS = 200

/** A public server that passes on to `url`; where it is. */
const createPassing = async (send: Send, port: number, url: string): Promise<Endpoint> => {
  const made = await send('POST', '/servers', { name: 'Passing', access: 'public', presentation: 'passthrough' })
  const { id } = z.object({ id: z.string() }).parse(made)
  await send('POST', `/servers/${id}/upstreams`, { name: 'floor', transport: 'http', url })
  return { port, path: `/s/${id}` }
}

const startTargets = async (bench: Bench): Promise<Target[]> => {
  const api = await bench.startOwn('fake-api', 'load')
  const floor = await bench.startOwn('floor', 'load', ['--api', api.url])
  const bare = await bench.startOwn('bare-proxy', 'server', ['--target', floor.url])
  const { child, port } = await startPatchbay(bench.rig, bench.options, bench.createDirectory('patchbay'))
  const endpoint = await createPassing(await signUp(port), port, `${floor.url}/mcp`)
  return [
    {
      name: 'httpxy alone',
      child: bare.child,
      endpoint: { port: bare.port, path: '/mcp' },
      era: 'session',
      isOurs: false,
    },
    { name: 'patchbay', child, endpoint, era: 'session', isOurs: true },
  ]
}

const runLoads = async (bench: Bench, targets: readonly Target[]): Promise<void> => {
  const slices = LOADS.map(() => targets.map((): Slice[] => []))
  for (let round = 1; round <= bench.options.rounds; round++) {
    for (const [at, { title, load }] of LOADS.entries()) {
      for (const [index, target] of targets.entries()) {
        const isFirst = round === 1 && !bench.options.quick
        const slice = await runSlice(bench, target, load, isFirst ? FIRST_WARM_UP_MS : WARM_UP_MS)
        slices[at]?.[index]?.push(slice)
        bench.say(`round ${round}: ${title}, ${target.name}: ${show(slice.requestsPerSecond)} req/s`)
      }
    }
  }
  for (const [at, { title }] of LOADS.entries()) {
    const summaries = slices[at]?.map(summarize) ?? []
    const [base, ours] = summaries
    if (base === undefined || ours === undefined) continue
    const rows = summaries.map((summary, index) => toRow(targets[index]?.name ?? '', summary, base))
    bench.addTable({ title, columns: ['', ...COLUMNS], rows })
    for (const [fault, count] of summaries.flatMap(({ errors }) => errors)) {
      bench.addBroken(`${title}: ${count} x ${fault}`)
    }
    bench.addFigure({
      title: `${title}: requests per second`,
      required: { atLeast: MIN_SPEED },
      measured: ours.requestsPerSecond / base.requestsPerSecond,
      unit: 'x library',
      note: noteDisturbance(base, ours),
    })
  }
}

const NO_SESSION: Session = { era: 'session', id: undefined }

/** From the wish for a stream, on a connection of its own, to the first event of it. */
const measureFirstByte = async ({ endpoint }: Target): Promise<number> => {
  const first = Promise.withResolvers<number>()
  const from = performance.now()
  const stream = await openEventStream(endpoint.port, encodeListen(endpoint, NO_SESSION, 1), () =>
    first.resolve(performance.now() - from),
  )
  if (stream.status !== 200) throw new Error(`a stream was answered with HTTP ${stream.status}`)
  const took = await first.promise
  stream.close()
  return took
}

const runStreams = async (bench: Bench, targets: readonly Target[]): Promise<void> => {
  const count = bench.options.quick ? 20 : STREAMS
  const took = targets.map((): number[] => [])
  for (let turn = 0; turn < count; turn++) {
    for (const [index, target] of targets.entries()) took[index]?.push(await measureFirstByte(target))
  }
  const [bare = [], ours = []] = took
  bench.addTable({
    title: `The first byte of a stream, ms, ${count} streams one after the other`,
    columns: ['', 'median', 'p90'],
    rows: targets.map(({ name }, index) => {
      const times = took[index] ?? []
      return [name, show(median(times)), show(quantile(times, 0.9))]
    }),
  })
  bench.addFigure({
    title: 'first byte of a stream, more than by the library alone',
    required: { atMost: MAX_FIRST_BYTE_MS },
    measured: median(ours) - median(bare),
    unit: 'ms',
  })
}

export const runPassthrough = async (bench: Bench): Promise<void> => {
  const targets = await startTargets(bench)
  await runLoads(bench, targets)
  await runStreams(bench, targets)
}
