import { promisify } from 'node:util'
import { constants, zstdCompress, zstdDecompress } from 'node:zlib'
import { type BulkheadPolicy, BulkheadRejectedError, bulkhead, TimeoutStrategy, timeout } from 'cockatiel'
import { LRUCache } from 'lru-cache'
import { createGroupedLru } from '../../lib/cache/grouped-lru.ts'
import { createSingleFlight } from '../../lib/cache/single-flight.ts'
import { AppError } from '../../lib/kernel/errors.ts'
import type { JsonValue } from '../../lib/kernel/json.ts'
import { cacheKeyOf, callerOf, isCacheId, newCacheId } from './cache-key.ts'
import type { CutResultStore } from './cut-results.store.ts'
import { type CutResultEntry, createRowWriter } from './row-writer.ts'

/** Time to live of a cut result after its last use. A model continues reading in the same turn, or not at all. */
export const CUT_RESULT_TTL_MS = 5 * 60_000
/** Default memory for all compressed results: enough for about 50 results of 10 MB of JSON each. */
const MAX_BYTES = 64 * 1_024 * 1_024
/** Share of the cache that one caller may fill. */
const CALLER_SHARE = 1 / 4
/** Maximum size of one result, uncompressed. */
const MAX_RESULT_BYTES = 64 * 1_024 * 1_024
/** Maximum compressed size of a result in the database. Writing a larger one would block the event loop for 15 ms. */
const MAX_ROW_BYTES = 4 * 1_024 * 1_024
/** Memory that an entry takes besides its content: its key, metadata and map entries. */
const ENTRY_OVERHEAD_BYTES = 1_024
const PURGE_EVERY_MS = 60_000
/** Maximum duration of a lookup. A longer one counts as a miss. */
const MAX_LOOKUP_MS = 5_000
/**
 * Maximum number of concurrent lookups and of concurrent reads per caller. Reads are limited because a small entry may
 * take a lot of memory when decompressed.
 */
const TURNS_PER_CALLER = 2
/** Maximum waiting lookups per caller. Further ones are misses, because guessing ids must not delay other callers. */
const WAITING_LOOKUPS_PER_CALLER = 14
const MAX_CALLERS_IN_TURN = 1_000
/** Maximum concurrent and waiting lookups of all callers: guessing ids must not occupy the database. */
const LOOKUPS_AT_ONCE = 4
const WAITING_LOOKUPS = 256

const LIMITS = {
  ttlMs: CUT_RESULT_TTL_MS,
  maxBytes: MAX_BYTES,
  maxRowBytes: MAX_ROW_BYTES,
  maxLookupMs: MAX_LOOKUP_MS,
}

/** A result to store. */
export type CutResult = {
  serverId: string
  /** From `cutResultHolderOf`. */
  holder: string
  content: Uint8Array
  /** Metadata available without reading the result: its tool, media type and token count. */
  about: JsonValue
}

/** A result that was found. `read` decompresses it; the buffer belongs to the caller. */
export type OpenedCutResult = { about: JsonValue; read: () => Promise<Buffer> }

export type CutCacheOptions = {
  /** The store that shares results with other replicas. */
  store?: CutResultStore | undefined
  limits?: Partial<typeof LIMITS> | undefined
  /** Milliseconds since 1970. */
  now?: () => number
  /** Receives error codes, never content. */
  logger?: { warn: (details: object, message: string) => void }
}

const compressBytes = promisify(zstdCompress)
const decompressBytes = promisify(zstdDecompress)
/** Chunk size for compression. With the default of 16 KiB, most of the time is spent switching threads. */
const CHUNK_BYTES = 256 * 1_024
const COMPRESSION = {
  chunkSize: CHUNK_BYTES,
  params: { [constants.ZSTD_c_compressionLevel]: 1, [constants.ZSTD_c_checksumFlag]: 1 },
}
const DECOMPRESSION = { chunkSize: CHUNK_BYTES, maxOutputLength: MAX_RESULT_BYTES }

/** Compresses with Zstandard (RFC 8878), off the event loop. */
const compress = async (content: Uint8Array): Promise<Uint8Array<ArrayBuffer>> =>
  new Uint8Array(await compressBytes(content, COMPRESSION))

/** Returns an error's code instead of its message, which could contain parts of a result. */
const codeOf = (error: unknown): string => {
  if (error instanceof AppError) return error.code
  if (!(error instanceof Error)) return 'unknown'
  return 'code' in error && typeof error.code === 'string' ? error.code : error.name
}

/** Creates a function that returns the concurrency limiter of a caller. */
const createTurns = (maxWaiting: number) => {
  const turns = new LRUCache<string, BulkheadPolicy>({ max: MAX_CALLERS_IN_TURN })
  return (caller: string): BulkheadPolicy => {
    const own = turns.get(caller) ?? bulkhead(TURNS_PER_CALLER, maxWaiting)
    turns.set(caller, own)
    return own
  }
}

/**
 * Stores results that were too large to send, compressed and for a few minutes, each under an id that only its caller
 * knows. On PostgreSQL, each is also stored in the database for other replicas. Database failures never fail a call.
 */
export const createCutCache = (options: CutCacheOptions = {}) => {
  const { store, now = Date.now, logger } = options
  const limits = { ...LIMITS, ...options.limits }
  const stop = new AbortController()
  let warnedAt = Number.NEGATIVE_INFINITY

  const onError = (error: unknown): void => {
    if (now() - warnedAt < PURGE_EVERY_MS) return
    warnedAt = now()
    logger?.warn({ reason: codeOf(error) }, 'cut results cannot be shared with other replicas')
  }

  const entries = createGroupedLru<CutResultEntry>({
    maxSize: limits.maxBytes,
    maxGroupSize: limits.maxBytes * CALLER_SHARE,
    ttlMs: limits.ttlMs,
    now: options.now,
    onEvict: (key, entry) => rows?.remove(key, entry),
  })
  const rows = store && createRowWriter({ store, peek: entries.peek, now, onError })

  const add = (key: string, entry: CutResultEntry): boolean => {
    const size = entry.content.length + 2 * entry.about.length + ENTRY_OVERHEAD_BYTES
    return entries.set(callerOf(entry.serverId, entry.holder), key, entry, size)
  }

  const lookupTimeout = timeout(limits.maxLookupMs, TimeoutStrategy.Aggressive)
  const lookups = createSingleFlight<CutResultEntry | undefined>()
  const lookupTurns = createTurns(WAITING_LOOKUPS_PER_CALLER)
  const allLookups = bulkhead(LOOKUPS_AT_ONCE, WAITING_LOOKUPS)
  const readTurns = createTurns(Number.POSITIVE_INFINITY)

  /** Finds a result that another replica has stored, and adds it to this process's cache. */
  const lookUp = async (key: string, serverId: string, holder: string): Promise<CutResultEntry | undefined> => {
    if (store === undefined) return undefined
    try {
      const turn = lookupTurns(callerOf(serverId, holder))
      const find = () => allLookups.execute(() => store.find({ key, serverId, holder }, now(), limits.ttlMs))
      const found = await lookupTimeout.execute(() => turn.execute(find))
      if (found === undefined) return undefined
      const entry = { serverId, holder, ...found, row: 'found' as const }
      add(key, entry)
      return entry
    } catch (error) {
      if (!(error instanceof BulkheadRejectedError)) onError(error)
      return undefined
    }
  }

  const purge = async (): Promise<void> => {
    entries.purge()
    await store?.removeExpired(now(), limits.ttlMs, stop.signal).catch(onError)
  }
  const timer = setInterval(() => void purge(), PURGE_EVERY_MS).unref()

  return {
    /** Returns the id of the stored result, or undefined if it is too large. `content` must not change meanwhile. */
    put: async ({ serverId, holder, content, about }: CutResult): Promise<string | undefined> => {
      if (content.length > MAX_RESULT_BYTES || limits.maxBytes === 0) return undefined
      const packed = await compress(content)
      const cacheId = newCacheId()
      const key = cacheKeyOf(serverId, holder, cacheId)
      const entry = { serverId, holder, about: JSON.stringify(about), content: packed, row: 'none' as const }
      if (stop.signal.aborted || !add(key, entry)) return undefined
      if (packed.length <= limits.maxRowBytes) rows?.save(key)
      return cacheId
    },
    /**
     * Finds a result and restarts its time to live. Returns undefined if the id is unknown, has
     * expired, or belongs to another holder or server.
     */
    open: async (serverId: string, holder: string, cacheId: string): Promise<OpenedCutResult | undefined> => {
      if (stop.signal.aborted || !isCacheId(cacheId)) return undefined
      const key = cacheKeyOf(serverId, holder, cacheId)
      const entry = entries.get(key) ?? (await lookups.run(key, () => lookUp(key, serverId, holder)))
      if (entry === undefined) return undefined
      const { about, content } = entry
      if (content.length <= limits.maxRowBytes) rows?.save(key)
      const read = () => decompressBytes(content, DECOMPRESSION)
      return { about: JSON.parse(about), read: () => readTurns(callerOf(serverId, holder)).execute(read) }
    },
    /** Replaces the metadata of a result in memory, if it is still there. */
    describe: ({ serverId, holder, cacheId, about }: Omit<CutResult, 'content'> & { cacheId: string }): void => {
      const entry = entries.peek(cacheKeyOf(serverId, holder, cacheId))
      if (entry !== undefined) entry.about = JSON.stringify(about)
    },
    /** Deletes all results of a server from memory. Its rows are deleted with the server. */
    delete: (serverId: string): void => entries.deleteWhere(entry => entry.serverId === serverId),
    /** Deletes expired results; also runs every minute. */
    purge,
    /** Resolves when all pending rows are in the database. */
    settle: async (): Promise<void> => rows?.settle(),
    stats: entries.stats,
    close: async (): Promise<void> => {
      clearInterval(timer)
      stop.abort()
      await rows?.close()
      entries.clear()
    },
  }
}

export type CutCache = ReturnType<typeof createCutCache>
