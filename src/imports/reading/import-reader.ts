import { type Database, transact } from '../../lib/db/client.ts'
import { MAX_SECRET_BYTES } from '../../lib/kernel/limits.ts'
import type { HttpClient } from '../../lib/outbound/outbound-request.ts'
import type { Logger } from '../../lib/process/logger.ts'
import type { Sealing } from '../../lib/process/sealing.ts'
import type { TextCounterFor } from '../../lib/tokens/token-counter.ts'
import { type FindCreator, QueueFullError } from '../../lib/worker/fair-queue.ts'
import { type Import, mayChooseAuth } from '../import.ts'
import { openSecrets, sealSecrets } from '../import-secrets.ts'
import { failImport, finishReading, READER_BEAT_MS, touchImports } from '../imports.store.ts'
import { prepareNames, storeNames } from '../naming/name-items.ts'
import { DEFAULT_NAMING, isSameNaming } from '../naming/naming.ts'
import { toGivenSecurity } from '../openapi/security.ts'
import { type GatheredSource, type GivenSource, gatherSource } from './gather-source.ts'
import { createKeptDocuments } from './kept-documents.ts'
import type { ReadingTurns } from './reading-turns.ts'
import { hashOfSource, type SourceFile, type SourceFiles } from './source-files.ts'
import { READER_STOPPED, runSourceJob, type SourceJobs } from './source-job.ts'
import { createPartStore, type PartStore, ReadingStopped } from './store-parts.ts'

/** Imports that are read or wait in this process: all, and per creator and organization. Each has up to 32 MiB in files. */
const MAX_READING = 30
const MAX_READING_OF_CREATOR = 6
const MAX_READING_OF_ORGANIZATION = 3
/** How long reading one source may take, with waiting and fetching. */
const MAX_READING_MS = 10 * 60_000

const FAULT = 'It could not be read because of an error in Patchbay.'
const TOO_BUSY = 'Too many sources wait to be read. Start the import again in a minute.'
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
  findCreator: FindCreator
  textCounterFor: TextCounterFor
}

/** Room for one source. It counts for the organization and for its creator. */
export type Place = { organizationId: string; creator: string }

export type Reading = { import: Import; place: Place; source: GivenSource }

/** Reads sources in the background, one at a time, and stores what they have. */
export const createImportReader = (parts: ImportReaderParts) => {
  const { db, sealing, logger, http, jobs, files, maxBytes, inTurn, findCreator, textCounterFor } = parts
  const active = new Map<string, Place & { controller: AbortController; ended: Promise<void> }>()
  /** Places of sources that are still being stored. */
  const reserved = new Set<Place>()
  /** The documents of ready imports that may be read again with others. */
  const kept = createKeptDocuments()
  let isClosing = false
  const beat = setInterval(() => {
    // A missed beat makes up for itself with the next one.
    if (active.size > 0) void touchImports(db, [...active.keys()]).catch(() => undefined)
  }, READER_BEAT_MS).unref()

  const finish = async (
    { import: one, place }: Pick<Reading, 'import' | 'place'>,
    gathered: GatheredSource,
    store: PartStore,
  ): Promise<void> => {
    const { kind, end, files: documents, needs, etag, lastModified } = gathered
    const found = Object.entries(end.secrets).filter(([, value]) => Buffer.byteLength(value) <= MAX_SECRET_BYTES)
    // All tools were named as they are generated.
    const { naming } = one.settings
    const count = textCounterFor(place.organizationId)
    const names = isSameNaming(naming, DEFAULT_NAMING) ? [] : await prepareNames({ db, count }, one, naming)
    const isStored = await transact(db, async tx => {
      await storeNames(tx, one.id, names)
      return finishReading(tx, one, {
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
      })
    })
    if (!isStored) throw new ReadingStopped()
    const mayBeReadAgain = needs.length > 0 || mayChooseAuth({ kind, settings: one.settings }, end.globals)
    const unneeded = mayBeReadAgain ? kept.add(one.id, place.creator, documents) : [one.id]
    for (const id of unneeded) await files.remove(id)
  }

  const read = async ({ import: one, place, source }: Reading, signal: AbortSignal): Promise<void> => {
    const { organizationId } = place
    const store = createPartStore(parts, one)
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
      return finish({ import: one, place }, gathered.value, store)
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
      if (error instanceof QueueFullError) return fail(id, TOO_BUSY)
      logger.error({ err: error, importId: id }, 'an import could not be read')
      await fail(id, FAULT)
    } finally {
      if (isClosing) await fail(id, READER_STOPPED)
      else if (signal.aborted && !controller.signal.aborted) await fail(id, TOO_SLOW)
    }
  }

  return {
    /**
     * Reserves a place for one more source of an organization while it is stored; `release` frees it. Returns undefined
     * if there is none.
     */
    reserve: async (organizationId: string): Promise<Place | undefined> => {
      const creator = (await findCreator(organizationId)) ?? organizationId
      const all = [...active.values(), ...reserved]
      const count = (isCounted: (one: Place) => boolean): number => all.filter(isCounted).length
      const isFull =
        all.length >= MAX_READING ||
        count(one => one.creator === creator) >= MAX_READING_OF_CREATOR ||
        count(one => one.organizationId === organizationId) >= MAX_READING_OF_ORGANIZATION
      if (isClosing || isFull) return undefined
      const place = { organizationId, creator }
      reserved.add(place)
      return place
    },
    release: (place: Place): void => {
      reserved.delete(place)
    },
    /** Starts to read a source, in the background. */
    start: (reading: Reading): void => {
      const { id } = reading.import
      kept.delete(id)
      const controller = new AbortController()
      const ended = run(reading, controller)
        .catch(error => logger.error({ err: error, importId: id }, 'the end of an import could not be stored'))
        .finally(() => active.delete(id))
      active.set(id, { ...reading.place, controller, ended })
    },
    /** Returns the documents of a ready import that may be read again, if this process has them. */
    findKept: (id: string): readonly SourceFile[] | undefined => kept.find(id),
    /** Lists the imports whose documents are kept. */
    listKept: kept.list,
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
      for (const id of kept.list()) await files.remove(id)
    },
  }
}

export type ImportReader = ReturnType<typeof createImportReader>
