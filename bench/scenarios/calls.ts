/** tools/call and tools/list in both eras, in turns with the floor. */
import type { Bench } from '../bench.ts'
import { countHistory } from '../database.ts'
import { type LoadResult, runLoad } from '../load.ts'
import { show } from '../report.ts'
import { median } from '../statistics.ts'
import { startFloor, startOurs, startSdk, type Target } from '../targets.ts'
import { WORKS, type Work } from '../tools.ts'

export type Slice = LoadResult & { cpuUs: number; busyPercent: number; foreignPercent: number }
type Requirement = {
  what: 'requestsPerSecond' | 'cpuUs' | 'p99Ms'
  text: string
  bound: { atLeast: number } | { atMost: number }
}
type Series = { title: string; work: Work; connections: number; requirements: readonly Requirement[] }

/** What one slice sends. */
export type Load = Pick<Series, 'work' | 'connections'>

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
    requirements: [speed(0.7), { what: 'cpuUs', text: 'CPU per request', bound: { atMost: 1.45 } }],
  },
  {
    title: `${WORKS.user.title}, 64 connections`,
    work: WORKS.user,
    connections: 64,
    requirements: [{ what: 'p99Ms', text: 'p99', bound: { atMost: 1.5 } }],
  },
  { title: `${WORKS.search.title}, 16 connections`, work: WORKS.search, connections: 16, requirements: [speed(0.85)] },
  { title: `${WORKS.big.title}, 4 connections`, work: WORKS.big, connections: 4, requirements: [speed(0.95)] },
]
const LISTS: readonly Series[] = [
  { title: `${WORKS.list.title}, 16 connections`, work: WORKS.list, connections: 16, requirements: [speed(0.9)] },
]

export const WARM_UP_MS = 300
/** V8 needs some seconds of load until it has compiled what is hot. */
export const FIRST_WARM_UP_MS = 6_000
/** Longer than history's batches wait: what a slice left to write is counted with that slice. */
const SETTLE_MS = 400
const settle = () => new Promise(resolve => setTimeout(resolve, SETTLE_MS))

/** Loads one target for a slice, after a warm-up, and reads what it used. */
export const runSlice = async (bench: Bench, target: Target, series: Load, warmUpMs: number): Promise<Slice> => {
  const { endpoint, era, child } = target
  const { work, connections } = series
  const warm = await runLoad({ endpoint, era, work, connections, durationMs: warmUpMs })
  await settle()
  const read = bench.rig.meter(child)
  const result = await runLoad({ endpoint, era, work, connections, durationMs: bench.options.sliceMs })
  await settle()
  const { serverMs, foreignMs, elapsedMs } = read()
  return {
    ...result,
    errors: { ...warm.errors, ...result.errors },
    cpuUs: (serverMs * 1_000) / result.answers,
    busyPercent: serverMs / 10 / result.seconds,
    foreignPercent: (foreignMs * 100) / elapsedMs,
  }
}

/** Speed and latency come from the quieter half of the rounds; CPU time, which neighbours hardly change, from all. */
export const summarize = (slices: readonly Slice[]) => {
  const quiet = [...slices].sort((a, b) => a.foreignPercent - b.foreignPercent).slice(0, Math.ceil(slices.length / 2))
  const of = (key: 'requestsPerSecond' | 'p50Ms' | 'p99Ms' | 'busyPercent' | 'foreignPercent') =>
    median(quiet.map(slice => slice[key]))
  const errors = slices.flatMap(slice => Object.entries(slice.errors))
  return {
    requestsPerSecond: of('requestsPerSecond'),
    p50Ms: of('p50Ms'),
    p99Ms: of('p99Ms'),
    busyPercent: of('busyPercent'),
    foreignPercent: of('foreignPercent'),
    cpuUs: errors.length > 0 ? Number.NaN : median(slices.map(slice => slice.cpuUs)),
    errors,
  }
}
type Summary = ReturnType<typeof summarize>

/** Above it, speed and latency say more about the neighbours than about the servers. */
const QUIET_PERCENT = 15
/** Below it, the load rather than the floor was the limit. */
const SATURATED_PERCENT = 85

export const noteDisturbance = (base: Summary, summary: Summary): string => {
  const foreign = Math.max(base.foreignPercent, summary.foreignPercent)
  if (foreign > QUIET_PERCENT) return `unsure: others used ${foreign.toFixed(0)} % of a core`
  return base.busyPercent < SATURATED_PERCENT ? 'the load was the limit: see x CPU' : ''
}

export const COLUMNS = [
  'req/s',
  'ratio',
  'p50 ms',
  'p99 ms',
  'CPU us/req',
  'x CPU',
  'core busy %',
  'foreign CPU %',
  'errors',
]

export const toRow = (name: string, summary: Summary, base: Summary): string[] => [
  name,
  show(summary.requestsPerSecond),
  show(summary.requestsPerSecond / base.requestsPerSecond),
  show(summary.p50Ms),
  show(summary.p99Ms),
  show(summary.cpuUs),
  show(summary.cpuUs / base.cpuUs),
  summary.busyPercent.toFixed(0),
  summary.foreignPercent.toFixed(0),
  String(summary.errors.reduce((sum, [, count]) => sum + count, 0)),
]

const reportSeries = (bench: Bench, series: Series, targets: readonly Target[], slices: readonly Slice[][]): void => {
  const summaries = slices.map(summarize)
  const [base] = summaries
  if (base === undefined) return
  const rows = summaries.map((summary, index) => toRow(targets[index]?.name ?? '', summary, base))
  bench.addTable({ title: series.title, columns: ['', ...COLUMNS], rows })
  for (const [index, target] of targets.entries()) {
    const summary = summaries[index]
    if (summary === undefined) continue
    for (const [fault, count] of summary.errors) bench.addBroken(`${series.title}, ${target.name}: ${count} x ${fault}`)
    if (!target.isOurs) continue
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
}

export const runCalls = async (bench: Bench): Promise<void> => {
  const { only, rounds, quick } = bench.options
  const allSeries = [...(only.has('calls') ? CALLS : []), ...(only.has('lists') ? LISTS : [])]
  const api = await bench.startOwn('fake-api', 'load')
  const floor = await startFloor(bench, api.url)
  const { ours, databaseFile } = await startOurs(bench, api.url)
  const sdk = bench.options.withSdk ? await startSdk(bench, api.url) : []
  const targets = [floor, ours.session, ours.stateless, ...sdk]
  const slices = allSeries.map(() => targets.map((): Slice[] => []))

  for (let round = 1; round <= rounds; round++) {
    for (const [at, series] of allSeries.entries()) {
      for (const [index, target] of targets.entries()) {
        const isFirst = round === 1 && !quick
        const slice = await runSlice(bench, target, series, isFirst ? FIRST_WARM_UP_MS : WARM_UP_MS)
        slices[at]?.[index]?.push(slice)
        bench.say(
          `round ${round} of ${rounds}: ${series.title}, ${target.name}: ${show(slice.requestsPerSecond)} req/s, ` +
            `${show(slice.cpuUs)} us, foreign CPU ${slice.foreignPercent.toFixed(0)} %`,
        )
      }
    }
  }
  for (const [at, series] of allSeries.entries()) reportSeries(bench, series, targets, slices[at] ?? [])

  await bench.rig.stopAll()
  const { recorded, missing } = countHistory(databaseFile)
  bench.addTable({
    title: 'History during these runs',
    columns: ['', 'calls'],
    rows: [
      ['recorded', String(recorded)],
      ['missing (the queue was full)', String(missing)],
    ],
  })
}
