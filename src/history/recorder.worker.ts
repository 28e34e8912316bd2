import { setPriority } from 'node:os'
import { parentPort, workerData } from 'node:worker_threads'
import type { DatabaseTarget } from '../lib/db/target.ts'
import { type BatchWriter, READY, type WorkerRequest } from './recording-batch.ts'

/** Lower priority than the thread that handles calls, so that on a single core calls do not wait for this thread. */
const NICENESS = 5
// On other platforms this would lower the priority of the whole process.
if (process.platform === 'linux') setPriority(NICENESS)

/** Loads only the writer of the database in use, because each thread has its own copy of modules. */
const openWriter = async (target: DatabaseTarget): Promise<BatchWriter> => {
  if (target.kind === 'sqlite') return (await import('./sqlite-writer.ts')).createSqliteWriter(target)
  return (await import('./postgres-writer.ts')).createPostgresWriter(target)
}

const writer = openWriter(workerData)
writer.then(
  () => parentPort?.postMessage(READY),
  () => undefined, // The first write reports it.
)

const handle = async (request: WorkerRequest): Promise<void> => {
  const { write, run, close } = await writer
  if (request.kind === 'write') parentPort?.postMessage(await write(request.batch))
  else if (request.kind === 'task') parentPort?.postMessage(await run(request.task))
  else {
    await close()
    parentPort?.close()
  }
}

/** Handles one request at a time, because they share a connection. A failure ends the thread. */
let handled = Promise.resolve()
parentPort?.on('message', (request: WorkerRequest) => {
  handled = handled.then(() => handle(request))
})
