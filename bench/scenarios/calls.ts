/** Measures tools/call and tools/list in both eras, in turns with the floor. */
import type { Bench } from '../bench.ts'
import { countHistory } from '../database.ts'
import {
  addSliceTable,
  compareSlices,
  type Load,
  noteDisturbance,
  runInTurns,
  type Slice,
  summarize,
} from '../slices.ts'
import { nameOf, startAllTargets, startFloor, startSdk, type Target } from '../targets.ts'
import { WORKS } from '../tools.ts'

type Requirement = {
  what: 'requestsPerSecond' | 'cpuUs' | 'p99Ms'
  text: string
  bound: { atLeast: number } | { atMost: number }
}
type Series = Load & { requirements: readonly Requirement[] }

const speed = (atLeast: number): Requirement => ({
  what: 'requestsPerSecond',
  text: 'requests per second',
  bound: { atLeast },
})

const CALLS: readonly Series[] = [
  {
    title: `${WORKS.user.title}, 16 connections`,
    work: WORKS.user,
    connections: 16,
    requirements: [speed(0.75), { what: 'cpuUs', text: 'CPU per request', bound: { atMost: 1.4 } }],
  },
  {
    title: `${WORKS.user.title}, 64 connections`,
    work: WORKS.user,
    connections: 64,
    requirements: [{ what: 'p99Ms', text: 'p99', bound: { atMost: 1.5 } }],
  },
  { title: `${WORKS.search.title}, 16 connections`, work: WORKS.search, connections: 16, requirements: [speed(0.95)] },
  { title: `${WORKS.big.title}, 4 connections`, work: WORKS.big, connections: 4, requirements: [speed(0.95)] },
]
const LISTS: readonly Series[] = [
  { title: `${WORKS.list.title}, 16 connections`, work: WORKS.list, connections: 16, requirements: [speed(0.9)] },
]

const reportSeries = (bench: Bench, series: Series, targets: readonly Target[], slices: readonly Slice[][]): void => {
  const rows = targets.map((target, index) => ({ target, summary: summarize(slices[index] ?? []) }))
  const [floor] = rows
  if (floor === undefined) return
  const base = floor.summary
  const named = rows.map(({ target, summary }) => [nameOf(target), summary] as const)
  addSliceTable(bench, series.title, named, base)
  for (const { target, summary } of rows.filter(({ target: { checkout } }) => checkout === 'this')) {
    for (const { what, text, bound } of series.requirements) {
      bench.addFigure({
        title: `${series.work.title}, ${target.era} era: ${text}`,
        required: bound,
        measured: summary[what] / base[what],
        unit: 'x floor',
        note: what === 'cpuUs' ? '' : noteDisturbance(base, summary),
      })
    }
  }
  compareSlices(bench, series.title, targets, slices, slices[0] ?? [])
}

export const runCalls = async (bench: Bench): Promise<void> => {
  const { only, withSdk } = bench.options
  const allSeries = [...(only.has('calls') ? CALLS : []), ...(only.has('lists') ? LISTS : [])]
  const api = await bench.startOwn('fake-api', 'load')
  const floor = await startFloor(bench, api.url)
  const patchbays = await startAllTargets(bench, api.url)
  const sdk = withSdk ? await startSdk(bench, api.url) : []
  const targets = [
    floor,
    ...patchbays.map(({ session }) => session),
    ...patchbays.map(({ stateless }) => stateless),
    ...sdk,
  ]
  const slices = await runInTurns(bench, targets, allSeries)
  for (const [at, series] of allSeries.entries()) reportSeries(bench, series, targets, slices[at] ?? [])

  await bench.rig.stopAll()
  const counts = patchbays.map(({ databaseFile }) => countHistory(databaseFile))
  bench.addTable({
    title: 'History during these runs',
    columns: ['', ...bench.checkouts.map(({ name }) => `${name} checkout`)],
    rows: [
      ['calls recorded', ...counts.map(({ recorded }) => String(recorded))],
      ['calls missing (the queue was full)', ...counts.map(({ missing }) => String(missing))],
    ],
  })
}
