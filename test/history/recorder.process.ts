// Records calls of a server until it is killed, or until its standard input ends: then it closes and exits. Arguments:
// the database's URL, the server's id, records per 10 ms, and the size of the queue. Prints lines: `old <id>` once a
// record is 250 ms old, `failed`, `works`, `missing` if records are lost, and `closed <recorded> <stored> <missing>`.
import { createRecorder } from '../../src/history/recorder.ts'
import { parseDatabaseUrl } from '../../src/lib/db/target.ts'
import { createSealing, generateMasterKey } from '../../src/lib/process/sealing.ts'
import { buildExecution } from './execution.ts'

const MOST_LOST_MS = 250
const TICK_MS = 10

const [url = '', serverId = '', perTick = '', maxQueued = ''] = process.argv.slice(2)
const target = parseDatabaseUrl(url)
if (!target.ok) throw new Error(target.error)

const say = (line: string): void => {
  process.stdout.write(`${line}\n`)
}
const recorder = createRecorder({
  target: target.value,
  maxQueued: Number(maxQueued),
  sealing: createSealing([generateMasterKey()]),
  logger: { info: () => say('works'), warn: () => say('failed'), error: () => say('lost') },
})
// Waits for the thread, so that its start-up does not count as waiting time of the records.
recorder.record(buildExecution(serverId))
await recorder.flush()

let recorded = 1
const ticks = setInterval(() => {
  for (let index = 0; index < Number(perTick); index++) {
    const execution = buildExecution(serverId)
    recorder.record(execution)
    recorded++
    setTimeout(() => say(`old ${execution.id}`), MOST_LOST_MS)
  }
  if (recorder.stats().missing > 0) say('missing')
}, TICK_MS)

process.stdin.resume().on('end', async () => {
  clearInterval(ticks)
  await recorder.close()
  const { stored, missing } = recorder.stats()
  say(`closed ${recorded} ${stored} ${missing}`)
})
