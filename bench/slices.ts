/**
 * Runs the load in short slices, alternating between the targets, and builds tables and comparisons from the results.
 */
import type { Bench } from './bench.ts'
import { inTurn } from './checkouts.ts'
import { type LoadResult, runLoad } from './load.ts'
import { show } from './report.ts'
import { median } from './statistics.ts'
import { nameOf, type Target } from './targets.ts'
import type { Work } from './tools.ts'

export type Slice = LoadResult & { cpuUs: number; busyPercent: number; foreignPercent: number }
/** The requests that one slice sends. */
export type Load = { title: string; work: Work; connections: number }

export const WARM_UP_MS = 300
/** Warm-up of the first round. V8 needs a few seconds of load to compile the hot code. */
export const FIRST_WARM_UP_MS = 6_000
/** Longer than the history waits before it writes a batch, so that each slice includes its own writes. */
const SETTLE_MS = 400
export const settle = () => new Promise(resolve => setTimeout(resolve, SETTLE_MS))

/** Loads one target for the length of a slice, after a warm-up, and measures its resource use. */
export const runSlice = async (bench: Bench, target: Target, load: Load, warmUpMs: number): Promise<Slice> => {
  const { endpoint, era, child } = target
  const { work, connections } = load
  const warm = await runLoad({ endpoint, era, work, connections, durationMs: warmUpMs })
  await settle()
  const read = bench.rig.meter(child)
  const result = await runLoad({ endpoint, era, work, connections, durationMs: bench.options.sliceMs })
  await settle()
  const { serverMs, foreignMs, elapsedMs } = read()
  return {
    ...result,
    errors: { ...warm.errors, ...result.errors },
    cpuUs: (serverMs * 1_000) / result.responses,
    busyPercent: serverMs / 10 / result.seconds,
    foreignPercent: (foreignMs * 100) / elapsedMs,
  }
}

/**
 * Runs one slice per load, target and round. Returns the slices by load and then target, in the order of the rounds.
 */
export const runInTurns = async (
  bench: Bench,
  targets: readonly Target[],
  loads: readonly Load[],
): Promise<Slice[][][]> => {
  const { rounds, quick } = bench.options
  const slices = loads.map(() => targets.map((): Slice[] => []))
  for (let round = 1; round <= rounds; round++) {
    for (const [at, load] of loads.entries()) {
      for (const [index, target] of inTurn([...targets.entries()], round)) {
        const warmUpMs = round === 1 && !quick ? FIRST_WARM_UP_MS : WARM_UP_MS
        const slice = await runSlice(bench, target, load, warmUpMs)
        slices[at]?.[index]?.push(slice)
        bench.log(
          `round ${round} of ${rounds}: ${load.title}, ${nameOf(target)}: ${show(slice.requestsPerSecond)} req/s, ` +
            `${show(slice.cpuUs)} us, foreign CPU ${slice.foreignPercent.toFixed(0)} %`,
        )
      }
    }
  }
  return slices
}

/** Returns the CPU time of a slice, or NaN if the slice has errors. */
export const cpuOf = ({ cpuUs, errors }: Pick<Slice, 'cpuUs' | 'errors'>): number =>
  Object.keys(errors).length > 0 ? Number.NaN : cpuUs

/** Compares each target of this checkout with its counterpart. `reference` holds the floor's slices. */
export const compareSlices = (
  bench: Bench,
  title: string,
  targets: readonly Target[],
  slices: readonly Slice[][],
  reference: readonly Slice[],
): void => {
  for (const [index, { name, checkout }] of targets.entries()) {
    const counterpart = targets.findIndex(target => target.checkout === 'other' && target.name === name)
    const [here, other] = [slices[index], slices[counterpart]]
    if (checkout !== 'this' || here === undefined || other === undefined) continue
    const valuesOf = (key: 'requestsPerSecond' | 'p50Ms' | 'p99Ms') =>
      [here, other].map(each => each.map(slice => slice[key]))
    bench.addComparison({
      title: `${title}, ${name}: CPU per request`,
      unit: 'us',
      here: here.map(cpuOf),
      other: other.map(cpuOf),
      reference: reference.map(cpuOf),
    })
    bench.compareValues(`${title}, ${name}: requests per second`, '', valuesOf('requestsPerSecond'))
    bench.compareValues(`${title}, ${name}: p50`, 'ms', valuesOf('p50Ms'))
    bench.compareValues(`${title}, ${name}: p99`, 'ms', valuesOf('p99Ms'))
  }
}

/**
 * Summarizes slices. Takes speed and latency from the quieter half of the rounds. Takes CPU time from all rounds,
 * because other processes disturb it less.
 */
export const summarize = (slices: readonly Slice[]) => {
  const quiet = [...slices].sort((a, b) => a.foreignPercent - b.foreignPercent).slice(0, Math.ceil(slices.length / 2))
  const of = (key: 'requestsPerSecond' | 'p50Ms' | 'p99Ms' | 'busyPercent' | 'foreignPercent') =>
    median(quiet.map(slice => slice[key]))
  return {
    requestsPerSecond: of('requestsPerSecond'),
    p50Ms: of('p50Ms'),
    p99Ms: of('p99Ms'),
    busyPercent: of('busyPercent'),
    foreignPercent: of('foreignPercent'),
    cpuUs: median(slices.map(cpuOf)),
    errors: slices.flatMap(slice => Object.entries(slice.errors)),
  }
}
export type Summary = ReturnType<typeof summarize>

/**
 * CPU use of other processes, in percent of a core. Above it, speed and latency say more about those processes than
 * about the servers.
 */
const QUIET_PERCENT = 15
/** CPU use of the floor. Below it, the load was the bottleneck and not the floor. */
const SATURATED_PERCENT = 85

export const noteDisturbance = (base: Summary, summary: Summary): string => {
  const foreign = Math.max(base.foreignPercent, summary.foreignPercent)
  if (foreign > QUIET_PERCENT) return `unsure: other processes used ${foreign.toFixed(0)} % of a core`
  return base.busyPercent < SATURATED_PERCENT ? 'the load was the limit: see x CPU' : ''
}

const COLUMNS = [
  '',
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

const toRow = (name: string, summary: Summary, base: Summary): string[] => [
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

/** Adds a table with ratios to `base`, and records every error as a failure. */
export const addSliceTable = (
  bench: Bench,
  title: string,
  rows: readonly (readonly [name: string, summary: Summary])[],
  base: Summary,
): void => {
  bench.addTable({ title, columns: COLUMNS, rows: rows.map(([name, summary]) => toRow(name, summary, base)) })
  for (const [name, { errors }] of rows) {
    for (const [fault, count] of errors) bench.addBroken(`${title}, ${name}: ${count} x ${fault}`)
  }
}
