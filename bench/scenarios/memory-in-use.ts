/** Resident memory when a thousand servers are in use: each listed and called once, as its first client would. */
import type { Bench } from '../bench.ts'
import { callOnce, createDatabase, TOOLS_PER_SERVER } from '../many-servers.ts'
import { encodePost, STATELESS } from '../mcp.ts'
import { startPatchbay } from '../patchbay.ts'
import { show } from '../report.ts'
import { openConnection } from '../wire.ts'

const MEGABYTE = 1_000_000
const MAX_RESIDENT_MB = 200
const LANES = 8
/** History's batches are written by then, but V8 has not noticed yet that the burst is over. */
const REST_MS = 2_000
/** V8 gives back what a burst has taken when it sees that the burst is over. */
const LONG_REST_MS = 30_000

const useServer = async (port: number, uuid: string): Promise<void> => {
  const connection = await openConnection(port)
  const list = encodePost({ port, path: `/s/${uuid}` }, STATELESS, { id: 1, method: 'tools/list' })
  const { status } = await connection.request(list)
  if (status !== 200) throw new Error(`tools/list of server ${uuid}: HTTP ${status}`)
  await callOnce(connection, port, uuid)
  connection.close()
}

export const runResident = async (bench: Bench): Promise<void> => {
  const count = bench.options.quick ? 100 : 1_000
  const api = await bench.startOwn('fake-api', 'load')
  bench.say(`using ${count} servers`)
  const { directory, uuids } = await createDatabase(bench, api.url, count)
  const { child, port } = await startPatchbay(bench.rig, bench.options, directory)
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
  const settled = await child.settledMemory()
  await child.stop()

  const inMb = (bytes: number): string => show(bytes / MEGABYTE)
  bench.addTable({
    title: `${count} servers of ${TOOLS_PER_SERVER} tools in use, MB`,
    columns: ['', 'resident', 'after 30 s of rest', 'of it live heap', 'resident before any call'],
    rows: [['', inMb(inUse), inMb(rested), inMb(settled.heapUsed), inMb(idle)]],
  })
  bench.addFigure({
    title: `resident memory, ${count} servers in use`,
    required: { atMost: MAX_RESIDENT_MB },
    // What V8 still holds of a burst that is over is no memory in use: the table shows it beside.
    measured: rested / MEGABYTE,
    unit: 'MB',
  })
}
