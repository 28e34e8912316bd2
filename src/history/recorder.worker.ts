import { setPriority } from 'node:os'
import { parentPort, workerData } from 'node:worker_threads'
import type { DatabaseTarget } from '../lib/db/target.ts'
import type { BatchWriter, WorkerRequest } from './recording-batch.ts'

/** Nicer than the thread that answers calls, which need not wait on a machine of one core; still a quarter of that. */
const NICENESS = 5
// Elsewhere it is the whole process that would step back.
if (process.platform === 'linux') setPriority(NICENESS)

/** Each database's writer is loaded only where it is used: a thread holds every module of its own. */
const openWriter = async (target: DatabaseTarget): Promise<BatchWriter> => {
  if (target.kind === 'sqlite') return (await import('./sqlite-writer.ts')).createSqliteWriter(target)
  return (await import('./postgres-writer.ts')).createPostgresWriter(target)
}

const writer = openWriter(workerData)

parentPort?.on('message', async (request: WorkerRequest) => {
  if (request.kind === 'write') {
    parentPort?.postMessage(await (await writer).write(request.batch))
    return
  }
  await (await writer).close()
  parentPort?.close()
})
