import { setTimeout as delay, setImmediate } from 'node:timers/promises'
import { AppError } from '../kernel/errors.ts'
import type { Notices } from '../process/notices.ts'
import type { Database, OpenDatabase } from './client.ts'
import { DatabaseFailure, type DatabaseFault, databaseUnreachable } from './failures.ts'
import { PROBE_TIMEOUT_MS } from './waiting.ts'

/** Interval of the probes, normally and after one that failed or while there is a problem. */
const PROBE_INTERVAL_MS = 10_000
const SHORT_PROBE_INTERVAL_MS = 1_000
/** A query that takes longer than this may be waiting for a dead connection, so the database is probed. */
const SUSPICIOUS_MS = 1_000
/** On a full disk, small writes may still succeed, so the problem ends only after this time without a failure. */
const UNWRITABLE_MS = 30_000

const MESSAGES = {
  unreachable: 'The database cannot be reached. Servers in memory keep handling calls; pages and changes fail.',
  damaged: 'The database file is damaged. Stop Patchbay and restore it from a backup.',
  unwritable:
    'The database cannot be written, because its disk is full or read-only. Changes fail until that is fixed.',
} as const satisfies Record<DatabaseFault, string>

/** Returns the error of a query, or undefined if it succeeds in time. Never rejects. */
const errorOf = async (query: PromiseLike<unknown>): Promise<unknown> => {
  const waiting = new AbortController()
  const timeout = async (): Promise<unknown> => {
    await delay(PROBE_TIMEOUT_MS, undefined, { signal: waiting.signal, ref: false })
    // If this thread was blocked, the response may have arrived, but has not been read yet.
    await setImmediate()
    return databaseUnreachable()
  }
  try {
    return await Promise.race([query.then(() => undefined), timeout()])
  } catch (error) {
    return error
  } finally {
    waiting.abort()
  }
}

/** Writes without changing anything that is read. */
const canWrite = async (db: Database): Promise<boolean> =>
  (await errorOf(db.installation.updateMany({ data: { updatedAt: new Date() } }))) === undefined

/**
 * Watches the database, and reports in `notices` while it is unreachable, damaged or cannot be written. Notices failures
 * from queries and from regular probes. Damage is reported until the process ends.
 */
export const createDatabaseHealth = ({ db, notices }: { db: OpenDatabase; notices: Notices }) => {
  let timer: NodeJS.Timeout | undefined
  let probing: Promise<void> | undefined
  let isClosed = false
  let unwritableUntil = 0
  let hasProbeFailed = false
  /** Rejects the queries that wait for the database. */
  const waiting = new Set<(error: DatabaseFailure) => void>()

  const raise = (fault: DatabaseFault, error: unknown): void =>
    notices.raise({ name: `database_${fault}`, level: 'problem', message: MESSAGES[fault] }, { err: error })

  const beginOutage = (error: unknown): void => {
    raise('unreachable', error)
    for (const reject of waiting) reject(databaseUnreachable({ cause: error }))
  }
  /** Returns whether the error means that the database is gone, and not only busy or full. */
  const isOutage = (error: unknown): boolean =>
    error instanceof DatabaseFailure ? error.fault === 'unreachable' : !(error instanceof AppError)

  const probeOnce = async (): Promise<void> => {
    const startedAt = performance.now()
    const error = await errorOf(db.probe())
    if (isClosed) return
    hasProbeFailed = error !== undefined
    // A probe opens a connection of its own, for which a busy machine may take too long while queries still succeed.
    const hasSucceeded = db.lastSuccessAt() > startedAt
    if (error === undefined) notices.clear('database_unreachable')
    else if (isOutage(error) && !hasSucceeded) beginOutage(error)
    const mayBeWritable = error === undefined && performance.now() > unwritableUntil
    if (mayBeWritable && notices.has('database_unwritable') && (await canWrite(db))) {
      notices.clear('database_unwritable')
    }
  }

  /** Probes the database now, or waits for the probe in progress. */
  const check = (): Promise<void> => {
    clearTimeout(timer)
    probing ??= probeOnce().finally(() => {
      probing = undefined
      const isDoubtful = hasProbeFailed || notices.list('problem').length > 0
      const intervalMs = isDoubtful ? SHORT_PROBE_INTERVAL_MS : PROBE_INTERVAL_MS
      if (!isClosed) timer = setTimeout(() => void check(), intervalMs).unref()
    })
    return probing
  }

  /** Reports a failure that somebody else observed. */
  const report = (fault: DatabaseFault, error: unknown): void => {
    if (isClosed) return
    // One lost connection is not an outage.
    if (fault === 'unreachable') return void check()
    if (fault === 'unwritable') unwritableUntil = performance.now() + UNWRITABLE_MS
    raise(fault, error)
  }
  db.onFailure(failure => report(failure.fault, failure))
  timer = setTimeout(() => void check(), PROBE_INTERVAL_MS).unref()

  return {
    check,
    report,
    /**
     * Runs `work`. Throws DatabaseFailure `unreachable` as soon as the database is known to be unreachable, because a
     * query on a dead connection would wait for half a minute.
     */
    whileReachable: async <T>(work: () => Promise<T>): Promise<T> => {
      if (notices.has('database_unreachable')) throw databaseUnreachable()
      const { promise: given, reject } = Promise.withResolvers<never>()
      const suspicion = setTimeout(() => void check(), SUSPICIOUS_MS).unref()
      waiting.add(reject)
      try {
        return await Promise.race([work(), given])
      } finally {
        waiting.delete(reject)
        clearTimeout(suspicion)
      }
    },
    close: async (): Promise<void> => {
      isClosed = true
      clearTimeout(timer)
      await probing
    },
  }
}
export type DatabaseHealth = ReturnType<typeof createDatabaseHealth>
