import { AppError } from '../../lib/kernel/errors.ts'
import type { JsonValue } from '../../lib/kernel/json.ts'
import { createAnswerFiles } from './answer-files.ts'
import { answerKeyOf, callerOf, isCacheId, newCacheId } from './cache-key.ts'
import { type CacheLimits, MAX_ABOUT_CHARS, SWEEP_EVERY_MS, toCacheLimits } from './cache-limits.ts'
import { createKeptAnswers, type KeptAnswer, type LetGo, type Place } from './kept-answers.ts'
import type { SharedAnswerStore } from './cut-results.store.ts'
import { createSharedLookups } from './shared-lookups.ts'
import { createSharing } from './row-writer.ts'

/** An answer to be kept. */
export type AnswerToKeep = {
  serverId: string
  /** Whose it is: of `answerHolderOf`. */
  holder: string
  /** Kept as it is; text as UTF-8. */
  content: string | Uint8Array
  /** What is to be known of it without reading it: its tool, kind, tokens. Small, and no secret more than the answer. */
  about: JsonValue
}

/** `bytes` are the caller's own. */
export type FoundAnswer = { bytes: Buffer; about: JsonValue }

/** An answer that is there, and how to have it; by then it may be gone after all. */
export type OpenedAnswer = { about: JsonValue; read: () => Promise<Buffer | undefined> }

export type AnswerCacheOptions = {
  /** Where large answers are written; made when there is one. Several processes may have the same. */
  directory: string
  /** Of a database that several processes share; without it nothing leaves this process. */
  store?: SharedAnswerStore | undefined
  limits?: Partial<CacheLimits> | undefined
  /** Milliseconds since 1970. */
  now?: () => number
  /** Told what could not be done, and never anything of an answer. */
  logger?: { warn: (details: object, message: string) => void }
}

/** What went wrong, without a word that could be of an answer. */
const codeOf = (error: unknown): string => {
  if (error instanceof AppError) return error.code
  if (!(error instanceof Error)) return 'unknown'
  return 'code' in error && typeof error.code === 'string' ? error.code : error.name
}

const toBuffer = (content: string | Uint8Array): Buffer =>
  typeof content === 'string'
    ? Buffer.from(content)
    : Buffer.from(content.buffer, content.byteOffset, content.byteLength)

/** The reasons that an answer is gone for this process alone: others may have used it since. */
const ELSEWHERE_PERHAPS: readonly LetGo[] = ['expired', 'lost']

/**
 * Answers that were too large to be sent, each under an id that only its caller has: in memory, above a size on disk,
 * and, where there is a store, in the database as well, where other processes find them. It never fails a call: what
 * cannot be kept is not, and what cannot be read is not there.
 */
export const createAnswerCache = (options: AnswerCacheOptions) => {
  const { directory, store, now = Date.now, logger } = options
  const limits = toCacheLimits(options.limits)
  const counts = { kept: 0, refused: 0, found: 0, missed: 0, full: 0, expired: 0, lost: 0, server_removed: 0 }
  let lastWarning = Number.NEGATIVE_INFINITY
  let isClosed = false

  const warn = (error: unknown, message: string): void => {
    if (now() - lastWarning < SWEEP_EVERY_MS) return
    lastWarning = now()
    logger?.warn({ reason: codeOf(error) }, message)
  }

  const onFault = (error: unknown): void => warn(error, 'answers cannot be shared with other processes')
  const sharing = store && createSharing({ store, limits, now, onFault })
  const lookUp = store && createSharedLookups({ store, limits, now, onFault })
  const files = createAnswerFiles(directory, now)

  const onLetGo = ({ key, place, isOwn }: KeptAnswer, why: LetGo): void => {
    if (place.in === 'file') files.remove(place.name)
    if (isOwn && !ELSEWHERE_PERHAPS.includes(why)) sharing?.remove(key)
    else sharing?.forget(key)
    counts[why]++
  }
  const kept = createKeptAnswers({ limits, now, onLetGo })

  const read = async ({ place, bytes }: KeptAnswer): Promise<Buffer | undefined> =>
    place.in === 'memory' ? Buffer.from(place.content) : files.read(place.name, bytes)

  /** Keeps it here, if it can be kept, and answers it if it is still there when all of it is. */
  const hold = async (answer: Omit<KeptAnswer, 'place' | 'caller' | 'usedAt'>, content: Buffer) => {
    if (!kept.fits(content.length)) return undefined
    const place: Place = kept.hasRoomInMemory(content.length)
      ? { in: 'memory', content: Buffer.from(content) }
      : { in: 'file', name: files.newName() }
    const held: KeptAnswer = { ...answer, place, caller: callerOf(answer.serverId, answer.holder), usedAt: now() }
    kept.add(held)
    if (place.in === 'file') {
      try {
        await files.write(place.name, content)
      } catch (error) {
        kept.letGo(held, 'lost')
        warn(error, 'answers cannot be kept on disk')
      }
      // It was let go while it was written.
      if (!kept.has(held)) files.remove(place.name)
    }
    return kept.has(held) ? held : undefined
  }

  const openElsewhere = async (key: string, serverId: string, holder: string): Promise<OpenedAnswer | undefined> => {
    const found = await lookUp?.({ key, serverId, holder }, async ({ content, about }) => {
      sharing?.note(key)
      sharing?.renew(key, now())
      const held = await hold({ key, serverId, holder, bytes: content.length, about, isOwn: false }, content)
      if (held === undefined) sharing?.forget(key)
    })
    return found && { about: JSON.parse(found.about), read: async () => Buffer.from(found.content) }
  }

  const open = async (serverId: string, holder: string, cacheId: string): Promise<OpenedAnswer | undefined> => {
    if (isClosed || !isCacheId(cacheId)) return undefined
    const key = answerKeyOf(serverId, holder, cacheId)
    const answer = kept.use(key)
    if (answer === undefined) return openElsewhere(key, serverId, holder)
    sharing?.renew(key, answer.usedAt)
    const readHere = async (): Promise<Buffer | undefined> => {
      const bytes = await read(answer)
      if (bytes === undefined) kept.letGo(answer, 'lost')
      return bytes ?? (await openElsewhere(key, serverId, holder))?.read()
    }
    return { about: JSON.parse(answer.about), read: readHere }
  }

  const keep = async ({ serverId, holder, content, about }: AnswerToKeep): Promise<string | undefined> => {
    const text = JSON.stringify(about)
    if (isClosed || text.length > MAX_ABOUT_CHARS) return undefined
    const cacheId = newCacheId()
    const key = answerKeyOf(serverId, holder, cacheId)
    const bytes = toBuffer(content)
    const held = await hold({ key, serverId, holder, bytes: bytes.length, about: text, isOwn: true }, bytes)
    if (held === undefined) return undefined
    sharing?.share({ key, serverId, holder, about: text, usedAt: held.usedAt, read: () => read(held) })
    return cacheId
  }

  /** What has expired goes, here and in the database, and what processes that are gone have left on disk. */
  const sweep = async (): Promise<void> => {
    kept.removeExpired()
    await Promise.all([files.tidy(), sharing?.removeExpired()])
  }
  void files.tidy()
  const timer = setInterval(() => void sweep(), SWEEP_EVERY_MS).unref()

  return {
    /**
     * Answers the id that it is found by, and undefined where it cannot be kept: it is too large, or there is no room
     * on disk. `content` must stay as it is until then.
     */
    keep: async (answer: AnswerToKeep): Promise<string | undefined> => {
      const cacheId = await keep(answer)
      counts[cacheId === undefined ? 'refused' : 'kept']++
      return cacheId
    },
    /**
     * What `holder` was given the id for on this server; its time to live begins anew. undefined, in no way different,
     * for whatever else the id may be: unknown, expired, somebody else's, another server's.
     */
    find: async (serverId: string, holder: string, cacheId: string): Promise<FoundAnswer | undefined> => {
      const opened = await open(serverId, holder, cacheId)
      const bytes = await opened?.read()
      counts[bytes === undefined ? 'missed' : 'found']++
      return bytes && opened && { bytes, about: opened.about }
    },
    /** As `find`, for who may need no more than to know that it is theirs: nothing is read yet. */
    open: async (serverId: string, holder: string, cacheId: string): Promise<OpenedAnswer | undefined> => {
      const opened = await open(serverId, holder, cacheId)
      counts[opened === undefined ? 'missed' : 'found']++
      return opened
    },
    /** Lets go of all that was kept of a server, in the database as well. */
    dropServer: (serverId: string): void => {
      kept.removeServer(serverId)
      sharing?.removeServer(serverId)
    },
    /** What is done every minute. */
    sweep,
    /** Resolves when the database has all that was to be written there. */
    settle: async (): Promise<void> => sharing?.settle(),
    stats: () => ({ ...kept.sizes(), ...counts, shared: sharing?.counts() }),
    /** Writes to the database what waits for it, for a moment, and removes what is on disk. */
    close: async (): Promise<void> => {
      isClosed = true
      clearInterval(timer)
      await sharing?.close()
      await files.close()
    },
  }
}

export type AnswerCache = ReturnType<typeof createAnswerCache>
