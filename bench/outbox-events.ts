/**
 * Fills the outbox of a database as fast as possible, and gives the events their deliveries. Prints the speeds as JSON,
 * in events a second, by round.
 *
 *   node bench/outbox-events.ts --database URL --server ID --organization ID --rounds 5 --calls 5000 --changes 500
 */
import { parseArgs } from 'node:util'
import { newExecutionId } from '../src/history/execution-id.ts'
import type { ExecutionRecord } from '../src/history/execution-record.ts'
import { createRecorder } from '../src/history/recorder.ts'
import { openDatabase, transact } from '../src/lib/db/client.ts'
import { parseDatabaseUrl } from '../src/lib/db/target.ts'
import type { NewEvent } from '../src/outbox/event-types.ts'
import { enterEvents } from '../src/outbox/outbox.store.ts'
import { dispatchEvents } from '../src/webhooks/delivery/outbox-dispatch.store.ts'

const text = { type: 'string', default: '' } as const
const { values } = parseArgs({
  options: { database: text, server: text, organization: text, rounds: text, calls: text, changes: text },
})
const [rounds, calls, changes] = [Number(values.rounds), Number(values.calls), Number(values.changes)]
const target = parseDatabaseUrl(values.database)
if (!target.ok) throw new Error(target.error)

const db = await openDatabase(target.value)
const complain = (details: object, message: string): void => console.error(message, details)
const recorder = createRecorder({
  target: target.value,
  logger: { info: () => {}, warn: complain, error: complain },
})

const perSecond = async (count: number, work: () => Promise<void>): Promise<number> => {
  const from = performance.now()
  await work()
  return (count * 1_000) / (performance.now() - from)
}

const failedCall = (): ExecutionRecord => ({
  id: newExecutionId(),
  serverId: values.server,
  instanceId: undefined,
  tool: 'tool',
  userId: undefined,
  client: 'bench/1',
  startedAt: new Date(),
  durationMs: 12,
  outcome: 'error',
  result: 'rejected',
  status: 500,
  requestBytes: 0,
  responseBytes: 200,
  error: `The API responded with 500. ${'Out of order. '.repeat(10)}`,
  request: undefined,
})

const recordCalls = async (): Promise<void> => {
  for (let index = 0; index < calls; index++) recorder.record(failedCall())
  await recorder.flush()
}

const changed = (): NewEvent => ({
  organizationId: values.organization,
  type: 'server.changed',
  data: { serverId: values.server, serverName: 'Benchmark', change: 'changed' },
})

const enterChanges = async (): Promise<void> => {
  for (let index = 0; index < changes; index++) await transact(db, tx => enterEvents(tx, [changed()]))
}

const dispatch = async (): Promise<void> => {
  while (await dispatchEvents(db, undefined));
}

const speeds = { calls: [] as number[], changes: [] as number[], dispatched: [] as number[] }
await recorder.start()
for (let round = 0; round < rounds; round++) {
  speeds.calls.push(await perSecond(calls, recordCalls))
  speeds.changes.push(await perSecond(changes, enterChanges))
  const waiting = await db.event.count({ where: { isDispatched: false } })
  if (waiting !== calls + changes) throw new Error(`${waiting} events are in the outbox, not ${calls + changes}`)
  speeds.dispatched.push(await perSecond(waiting, dispatch))
}
await recorder.close()
await db.close()
console.log(JSON.stringify(speeds))
