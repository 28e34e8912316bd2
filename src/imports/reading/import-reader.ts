import { type Database, transact } from '../../lib/db/client.ts'
import { MAX_SECRET_BYTES } from '../../lib/kernel/limits.ts'
import type { HttpClient } from '../../lib/outbound/outbound-request.ts'
import type { Logger } from '../../lib/process/logger.ts'
import type { Sealing } from '../../lib/process/sealing.ts'
import { createFairQueue, type FindCreator } from '../../lib/worker/fair-queue.ts'
import type { Import } from '../import.ts'
import { openSecrets, sealSecrets } from '../import-secrets.ts'
import { failImport, finishReading, READER_BEAT_MS, touchImports } from '../imports.store.ts'
import { toGivenSecurity } from '../openapi/security.ts'
import { type GatheredSource, type GivenSource, gatherSource } from './gather-source.ts'
import { hashOfSource, type SourceFile, type SourceFiles } from './source-files.ts'
import { READER_STOPPED, runSourceJob, type SourceJobs } from './source-job.ts'
import { createPartStore, type PartStore, ReadingStopped } from './store-parts.ts'

/** Imports that are read or wait in this process, and those of one organization. Each keeps up to 32 MiB in files. */
const MAX_READING = 30
const MAX_READING_OF_ORGANIZATION = 3
const MAX_WAITING = 1_000
/** How long reading one source may take, with waiting and fetching. */
const MAX_READING_MS = 10 * 60_000

const FAULT = 'It could not be read because of an error in Patchbay.'
const TOO_SLOW = 'It took too long to get and read the source. Start the import again.'

export type ImportReaderParts = {
  db: Database
  sealing: Sealing
  logger: Pick<Logger, 'error'>
  http: Pick<HttpClient, 'send'>
  jobs: SourceJobs
  files: SourceFiles
  /** Of all documents of a source. */
  maxBytes: number
  inTurn: ReadingTurns
}

export type Reading = { import: Import; organizationId: string; source: GivenSource }

/** Lets one source be read at a time. Organizations take turns, so that none holds up the others for long. */
export const createTurns = (findCreator: FindCreator) => {
  // Checks by hand wait here too. Those of one organization must not fill the queue for all others.
  const limits = { maxWaiting: MAX_WAITING, maxWaitingOfOwner: MAX_READING, maxWaitingOfGroup: MAX_READING }
  const queue = createFairQueue({ maxRunning: 1, maxRunningOfOwner: 1, maxRunningOfGroup: 1, ...limits })
  return async <T>(organizationId: string, signal: AbortSignal, work: () => Promise<T>): Promise<T> => {
    const creator = await findCreator(organizationId)
    return queue.run({ owner: organizationId, group: organizationId, creator }, work, signal)
  }
}

export type ReadingTurns = ReturnType<typeof createTurns>

/** Reads sources in the background, one at a time, and stores what they have. */
export const createImportReader = (parts: ImportReaderParts) => {
  const { db, sealing, logger, http, jobs, files, maxBytes, inTurn } = parts
  const active = new Map<string, { organizationId: string; controller: AbortController; ended: Promise<void> }>()
  /** The organizations of sources that will be read once they are stored. */
  const reserved = new Set<{ organizationId: string }>()
  /** The documents of ready imports that may be read again with others. */
  const kept = new Map<string, readonly SourceFile[]>()
  let isClosing = false
  const beat = setInterval(() => {
    // A missed beat makes up for itself with the next one.
    if (active.size > 0) void touchImports(db, [...active.keys()]).catch(() => undefined)
  }, READER_BEAT_MS).unref()

  const finish = async (one: Import, gathered: GatheredSource, store: PartStore): Promise<void> => {
    const { kind, end, files: documents, needs, etag, lastModified } = gathered
    const found = Object.entries(end.secrets).filter(([, value]) => Buffer.byteLength(value) <= MAX_SECRET_BYTES)
    const isStored = await transact(db, tx =>
      finishReading(tx, one, {
        summary: store.summaryOf(end),
        sha256: hashOfSource(documents),
        needs,
        // Those of one document say nothing about the others.
        ...(documents.length === 1 ? { etag, lastModified } : { etag: undefined, lastModified: undefined }),
        // Those that the builder has entered, before the source was read again, replace what it has.
        mergeSecrets: entered => {
          const values = new Map([...found, ...openSecrets(sealing, one.id, entered)])
          const sealed = values.size === 0 ? undefined : sealSecrets(sealing, one.id, values)
          return { sealed, keys: [...values.keys()] }
        },
      }),
    )
    if (!isStored) throw new ReadingStopped()
    // The builder may say how an API authenticates whose description does not.
    const isAuthSaid = one.settings.auth === undefined && end.globals.some(({ isSecret }) => isSecret)
    if (needs.length > 0 || (kind === 'openapi' && !isAuthSaid)) kept.set(one.id, documents)
    else await files.remove(one.id)
  }

  const read = async ({ import: one, organizationId, source }: Reading, signal: AbortSignal): Promise<void> => {
    const store = createPartStore(db, one)
    const options = { organizationId, signal }
    const security = toGivenSecurity(one.settings.auth ?? '')
    const gathered = await gatherSource(
      source,
      {
        http,
        maxBytes,
        keep: (name, bytes) => files.write(one.id, name, bytes),
        read: (job, sha256) => {
          const onPart = (part: string) => store.put(part, sha256)
          const input = { ...job, options: { security } }
          return inTurn(organizationId, signal, () => runSourceJob(jobs, input, { ...options, onPart }))
        },
      },
      options,
    )
    if (gathered.ok) {
      await store.finish()
      return finish(one, gathered.value, store)
    }
    if (!signal.aborted) await fail(one.id, gathered.error)
  }

  const fail = async (id: string, problem: string): Promise<void> => {
    await failImport(db, id, problem)
    await files.remove(id)
  }

  const run = async (reading: Reading, controller: AbortController): Promise<void> => {
    const { id } = reading.import
    const signal = AbortSignal.any([controller.signal, AbortSignal.timeout(MAX_READING_MS)])
    try {
      await read(reading, signal)
    } catch (error) {
      if (error instanceof ReadingStopped) return files.remove(id)
      if (signal.aborted) return
      logger.error({ err: error, importId: id }, 'an import could not be read')
      await fail(id, FAULT)
    } finally {
      if (isClosing) await fail(id, READER_STOPPED)
      else if (signal.aborted && !controller.signal.aborted) await fail(id, TOO_SLOW)
    }
  }

  return {
    /**
     * Keeps a place for one more source of an organization, also while it is stored. Returns the function that gives the
     * place back, or undefined if there is none.
     */
    reserve: (organizationId: string): (() => void) | undefined => {
      const all = [...active.values(), ...reserved]
      const own = all.filter(one => one.organizationId === organizationId)
      if (isClosing || all.length >= MAX_READING || own.length >= MAX_READING_OF_ORGANIZATION) return undefined
      const place = { organizationId }
      reserved.add(place)
      return () => reserved.delete(place)
    },
    /** Starts to read a source, in the background. */
    start: (reading: Reading): void => {
      const { id } = reading.import
      kept.delete(id)
      const controller = new AbortController()
      const ended = run(reading, controller)
        .catch(error => logger.error({ err: error, importId: id }, 'the end of an import could not be stored'))
        .finally(() => active.delete(id))
      active.set(id, { organizationId: reading.organizationId, controller, ended })
    },
    /** Returns the documents of a ready import that may be read again, if this process has them. */
    findKept: (id: string): readonly SourceFile[] | undefined => kept.get(id),
    isReading: (id: string): boolean => active.has(id),
    /** Stops reading, and removes the documents. */
    discard: async (id: string): Promise<void> => {
      active.get(id)?.controller.abort()
      await active.get(id)?.ended
      kept.delete(id)
      await files.remove(id)
    },
    close: async (): Promise<void> => {
      isClosing = true
      clearInterval(beat)
      for (const { controller } of active.values()) controller.abort()
      await Promise.all([...active.values()].map(({ ended }) => ended))
      for (const id of kept.keys()) await files.remove(id)
    },
  }
}

export type ImportReader = ReturnType<typeof createImportReader>
