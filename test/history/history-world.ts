import { randomUUID } from 'node:crypto'
import { Worker } from 'node:worker_threads'
import { Client } from 'pg'
import { onTestFinished } from 'vitest'
import { createBodyOpener } from '../../src/history/bodies/call-bodies.ts'
import type { Recorder } from '../../src/history/execution-record.ts'
import { createExecutionStore } from '../../src/history/executions.store.ts'
import { createRecorder, type RecorderOptions } from '../../src/history/recorder.ts'
import { type OpenDatabase, openDatabase } from '../../src/lib/db/client.ts'
import { openRawSqlite } from '../../src/lib/db/sqlite.ts'
import type { DatabaseTarget } from '../../src/lib/db/target.ts'
import { createSealing, generateMasterKey } from '../../src/lib/process/sealing.ts'
import type { DatabaseKindForTests } from '../support/databases.ts'

/** Collects the recorder's log lines and lets a test wait for one. */
const createLog = () => {
  const lines: { message: string; details: object }[] = []
  let waiting: { pattern: RegExp; resolve: () => void }[] = []
  const add = (details: object, message: string): void => {
    lines.push({ message, details })
    for (const { pattern, resolve } of waiting) if (pattern.test(message)) resolve()
    waiting = waiting.filter(({ pattern }) => !pattern.test(message))
  }
  return {
    lines,
    logger: { info: add, warn: add, error: add },
    /** Resolves when the next matching line is logged. */
    next: (pattern: RegExp): Promise<void> => new Promise(resolve => waiting.push({ pattern, resolve })),
  }
}

/** Blocks all other writes to executions and gaps until `release` is called. */
export const lockDatabase = async (target: DatabaseTarget): Promise<{ release: () => Promise<void> }> => {
  if (target.kind === 'sqlite') {
    const connection = openRawSqlite(target, { busyTimeoutMs: 5_000 })
    connection.exec('BEGIN IMMEDIATE')
    return { release: async () => void connection.close() }
  }
  const client = new Client({ connectionString: target.url })
  await client.connect()
  await client.query('BEGIN; LOCK TABLE "Execution", "ExecutionGap" IN SHARE MODE')
  return { release: () => client.end() }
}

export const createServer = async (db: OpenDatabase): Promise<string> => {
  const server = await db.server.create({
    data: {
      name: 'Weather',
      organization: { create: { name: 'Us' } },
      owner: { create: { email: `${randomUUID()}@example.com`, passwordHash: '' } },
    },
  })
  return server.id
}

/** Creates a database with one server, its history and a recorder. Closes everything after the test. */
export const createHistoryWorld = async (kind: DatabaseKindForTests, options: Partial<RecorderOptions> = {}) => {
  const database = await kind.create()
  const { target } = database
  const db = await openDatabase(target)
  const serverId = await createServer(db)
  const { organizationId } = await db.server.findUniqueOrThrow({ where: { id: serverId } })
  const log = createLog()
  const sealing = createSealing([generateMasterKey()])
  const workers: Worker[] = []
  const recorder: Recorder = createRecorder({
    target,
    logger: log.logger,
    sealing,
    startWorker: (file, workerOptions) => {
      const worker = new Worker(file, workerOptions)
      workers.push(worker)
      return worker
    },
    ...options,
  })
  onTestFinished(async () => {
    await recorder.close()
    await db.close()
    await database.drop()
  })
  return {
    target,
    db,
    serverId,
    organizationId,
    log,
    sealing,
    recorder,
    executions: createExecutionStore(db, createBodyOpener(sealing)),
    countStored: () => db.execution.count(),
    /** The worker threads started so far. The last one is in use. */
    workers,
  }
}

export type HistoryWorld = Awaited<ReturnType<typeof createHistoryWorld>>
