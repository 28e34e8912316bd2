/**
 * Measures resident memory with a thousand servers in use. Each server gets one tools/list and one call, as from its
 * first client.
 */
import type { Bench } from '../bench.ts'
import type { Checkout } from '../checkouts.ts'
import { callOnce, createDatabase, TOOLS_PER_SERVER } from '../many-servers.ts'
import { encodePost, STATELESS } from '../mcp.ts'
import { startPatchbay } from '../patchbay.ts'
import { show } from '../report.ts'
import { openConnection } from '../wire.ts'

const MEGABYTE = 1_000_000
const MAX_RESIDENT_MB = 200
const LANES = 8
/** Long enough for the history to write its batches, too short for V8 to notice that the burst is over. */
const REST_MS = 2_000
/** Long enough for V8 to notice that the burst is over and to return its memory. */
const LONG_REST_MS = 30_000

const useServer = async (port: number, uuid: string): Promise<void> => {
  const connection = await openConnection(port)
  const list = encodePost({ port, path: `/s/${uuid}` }, STATELESS, { id: 1, method: 'tools/list' })
  const { status } = await connection.request(list)
  if (status !== 200) throw new Error(`tools/list of server ${uuid}: HTTP ${status}`)
  await callOnce(connection, port, uuid)
  connection.close()
}

const measure = async (bench: Bench, checkout: Checkout, apiUrl: string, count: number) => {
  const { directory, uuids } = await createDatabase(bench, checkout, apiUrl, count)
  const { child, port } = await startPatchbay(bench, checkout, directory)
  const idle = child.residentBytes()
  const waiting = [...uuids]
  const runLane = async (): Promise<void> => {
    for (let uuid = waiting.pop(); uuid !== undefined; uuid = waiting.pop()) await useServer(port, uuid)
  }
  await Promise.all(Array.from({ length: LANES }, runLane))
  await new Promise(resolve => setTimeout(resolve, REST_MS))
  const inUse = child.residentBytes()
  if (!bench.options.quick) await new Promise(resolve => setTimeout(resolve, LONG_REST_MS))
  const rested = child.residentBytes()
  const { heapUsed } = await child.settledMemory()
  await child.stop()
  return { checkout, idle, inUse, rested, heapUsed }
}

export const runMemoryInUse = async (bench: Bench): Promise<void> => {
  const count = bench.options.quick ? 100 : 1_000
  const api = await bench.startOwn('fake-api', 'load')
  const all: Awaited<ReturnType<typeof measure>>[] = []
  for (const checkout of bench.checkouts) {
    bench.log(`using ${count} servers of ${checkout.name} checkout`)
    all.push(await measure(bench, checkout, api.url, count))
  }
  const inMb = (bytes: number): string => show(bytes / MEGABYTE)
  bench.addTable({
    title: `${count} servers of ${TOOLS_PER_SERVER} tools in use, MB`,
    columns: ['', 'resident', 'resident 30 s later', 'live heap', 'resident before any call'],
    rows: all.map(({ checkout, inUse, rested, heapUsed, idle }) => [
      `${checkout.name} checkout`,
      inMb(inUse),
      inMb(rested),
      inMb(heapUsed),
      inMb(idle),
    ]),
  })
  bench.addFigure({
    title: `resident memory, ${count} servers in use`,
    required: { atMost: MAX_RESIDENT_MB },
    // The memory that V8 has not yet returned after the burst is not in use. The table shows it.
    measured: (all[0]?.rested ?? Number.NaN) / MEGABYTE,
    unit: 'MB',
  })
  bench.compareValues(
    `resident memory, ${count} servers in use`,
    'MB',
    all.map(({ rested }) => [rested / MEGABYTE]),
  )
}
