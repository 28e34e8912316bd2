/** The time until Patchbay is ready with many servers in its database, and the first call to one that was never used. */
import type { Bench } from '../bench.ts'
import { callOnce, createDatabase, TOOLS_PER_SERVER } from '../many-servers.ts'
import { startPatchbay } from '../patchbay.ts'
import { show } from '../report.ts'
import { median, quantile } from '../statistics.ts'
import { openConnection } from '../wire.ts'

const MEGABYTE = 1_000_000
/** A start is short and neighbours disturb it: never fewer. */
const MIN_STARTS = 5
/** Cold servers called first, until the way of a call is compiled; the very first call of a process is told apart. */
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

export const runStart = async (bench: Bench): Promise<void> => {
  const { rounds, quick } = bench.options
  const count = quick ? 2_000 : 100_000
  const api = await bench.startOwn('fake-api', 'load')
  const none = await createDatabase(bench, api.url, 0)
  bench.say(`filling a database with ${count} servers of ${TOOLS_PER_SERVER} tools`)
  const many = await createDatabase(bench, api.url, count)

  const readyMs: { none: number[]; many: number[] } = { none: [], many: [] }
  const residentMb: { none: number[]; many: number[] } = { none: [], many: [] }
  let coldMs: number[] = []
  const starts = quick ? 2 : Math.max(rounds, MIN_STARTS)
  // The first start of each only fills the file cache.
  for (let round = 0; round <= starts; round++) {
    for (const [key, { directory, uuids }] of [
      ['none', none],
      ['many', many],
    ] as const) {
      const { child, port, readyMs: tookMs } = await startPatchbay(bench.rig, bench.options, directory)
      if (round > 0) {
        readyMs[key].push(tookMs)
        residentMb[key].push(child.residentBytes() / MEGABYTE)
      }
      bench.say(
        `start ${round} of ${starts}: ready in ${tookMs.toFixed(0)} ms, ${key === 'none' ? 'no servers' : `${count} servers`}`,
      )
      if (round === starts && key === 'many') coldMs = await callColdServers(port, uuids)
      await child.stop()
    }
  }

  const cold = coldMs.slice(WARM_UP_CALLS)
  bench.addTable({
    title: `Start with ${count} servers of ${TOOLS_PER_SERVER} tools in the database`,
    columns: ['', 'no servers', `${count} servers`],
    rows: [
      ['ready after, ms', show(median(readyMs.none)), show(median(readyMs.many))],
      ['resident when ready, MB', show(median(residentMb.none)), show(median(residentMb.many))],
    ],
  })
  bench.addTable({
    title: `First call to a cold server, over ${cold.length} of them`,
    columns: ['', 'median ms', 'p95 ms', 'max ms', 'first call of the process, ms'],
    rows: [
      ['', show(median(cold)), show(quantile(cold, 0.95)), show(Math.max(...cold)), show(coldMs[0] ?? Number.NaN)],
    ],
  })
  bench.addFigure({
    title: `ready with ${count} servers, beside none`,
    required: { atMost: MAX_RATIO },
    measured: median(readyMs.many) / median(readyMs.none),
    unit: 'x',
  })
  bench.addFigure({
    title: 'first call to a cold server, p95',
    required: { atMost: MAX_COLD_MS },
    measured: quantile(cold, 0.95),
    unit: 'ms',
  })
}
