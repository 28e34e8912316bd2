/** The time until Patchbay is ready with many servers in its database, and the first call to an unused server. */
import type { Bench } from '../bench.ts'
import { type Checkout, inTurn } from '../checkouts.ts'
import { callOnce, createDatabase, TOOLS_PER_SERVER } from '../many-servers.ts'
import { startPatchbay } from '../patchbay.ts'
import { show } from '../report.ts'
import { median, quantile } from '../statistics.ts'
import { openConnection } from '../wire.ts'

const MEGABYTE = 1_000_000
/** Minimum number of starts. A start is short and easily disturbed by other processes. */
const MIN_STARTS = 5
/** Number of first calls to unused servers before V8 has compiled the code. The very first call is shown separately. */
const WARM_UP_CALLS = 20
const COLD_CALLS = 200
const MAX_COLD_MS = 20
const MAX_RATIO = 1.5

const callColdServers = async (port: number, uuids: readonly string[]): Promise<number[]> => {
  const connection = await openConnection(port)
  const timesMs: number[] = []
  for (const uuid of uuids.slice(0, WARM_UP_CALLS + COLD_CALLS)) {
    timesMs.push(await callOnce(connection, port, uuid))
  }
  connection.close()
  return timesMs
}

const SIZES = ['none', 'many'] as const

/** Prepares the databases of one checkout, with empty lists for the measurements of its starts. */
const prepare = async (bench: Bench, checkout: Checkout, apiUrl: string, count: number) => {
  const none = await createDatabase(bench, checkout, apiUrl, 0)
  bench.log(`filling a database with ${count} servers of ${TOOLS_PER_SERVER} tools`)
  const many = await createDatabase(bench, checkout, apiUrl, count)
  const readyMs: { none: number[]; many: number[] } = { none: [], many: [] }
  const residentMb: { none: number[]; many: number[] } = { none: [], many: [] }
  const coldMs: number[] = []
  return { checkout, databases: { none, many }, readyMs, residentMb, coldMs }
}
type Measured = Awaited<ReturnType<typeof prepare>>

const report = (bench: Bench, { checkout, readyMs, residentMb, coldMs }: Measured, count: number): void => {
  const cold = coldMs.slice(WARM_UP_CALLS)
  bench.addTable({
    title: `Start of ${checkout.name} checkout with ${count} servers of ${TOOLS_PER_SERVER} tools in the database`,
    columns: ['', 'no servers', `${count} servers`],
    rows: [
      ['ready after, ms', show(median(readyMs.none)), show(median(readyMs.many))],
      ['resident when ready, MB', show(median(residentMb.none)), show(median(residentMb.many))],
    ],
  })
  bench.addTable({
    title: `First call to an unused server of ${checkout.name} checkout, over ${cold.length} of them`,
    columns: ['', 'median ms', 'p95 ms', 'max ms', 'first call of the process, ms'],
    rows: [
      ['', show(median(cold)), show(quantile(cold, 0.95)), show(Math.max(...cold)), show(coldMs[0] ?? Number.NaN)],
    ],
  })
  if (checkout.name === 'other') return
  bench.addFigure({
    title: `ready with ${count} servers, compared with none`,
    required: { atMost: MAX_RATIO },
    measured: median(readyMs.many) / median(readyMs.none),
    unit: 'x',
  })
  bench.addFigure({
    title: 'first call to an unused server, p95',
    required: { atMost: MAX_COLD_MS },
    measured: quantile(cold, 0.95),
    unit: 'ms',
  })
}

export const runStart = async (bench: Bench): Promise<void> => {
  const { rounds, quick } = bench.options
  const count = quick ? 2_000 : 100_000
  const api = await bench.startOwn('fake-api', 'load')
  const all: Measured[] = []
  for (const checkout of bench.checkouts) all.push(await prepare(bench, checkout, api.url, count))

  const starts = quick ? 2 : Math.max(rounds, MIN_STARTS)
  // The first start with each database only fills the file cache.
  for (let round = 0; round <= starts; round++) {
    for (const size of SIZES) {
      for (const { checkout, databases, readyMs, residentMb, coldMs } of inTurn(all, round)) {
        const { directory, uuids } = databases[size]
        const started = await startPatchbay(bench, checkout, directory)
        if (round > 0) {
          readyMs[size].push(started.readyMs)
          residentMb[size].push(started.child.residentBytes() / MEGABYTE)
        }
        bench.log(
          `start ${round} of ${starts}: ${checkout.name} checkout, ` +
            `${size === 'none' ? 'no' : count} servers: ready in ${started.readyMs.toFixed(0)} ms`,
        )
        if (round === starts && size === 'many') coldMs.push(...(await callColdServers(started.port, uuids)))
        await started.child.stop()
      }
    }
  }

  for (const measured of all) report(bench, measured, count)
  for (const size of SIZES) {
    const servers = size === 'none' ? 'no' : count
    bench.compareValues(
      `ready with ${servers} servers`,
      'ms',
      all.map(({ readyMs }) => readyMs[size]),
    )
    bench.compareValues(
      `resident when ready, ${servers} servers`,
      'MB',
      all.map(({ residentMb }) => residentMb[size]),
    )
  }
}
