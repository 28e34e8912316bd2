import { setTimeout as wait } from 'node:timers/promises'
import type { JsonObject } from '../../lib/kernel/json.ts'
import { piecesOf } from '../../lib/tokens/tokens.ts'
import type { Job } from '../../lib/worker/job.ts'
import type { CutCache } from '../cut-cache/cut-cache.ts'

/** A stored result whose tokens are only estimated. */
export type EstimatedResult = {
  serverId: string
  organizationId: string
  holder: string
  cacheId: string
  bytes: number
  /** What is stored with the result, which gets the exact tokens. */
  about: JsonObject
}

export type ExactCountParts = {
  countTexts: Job<readonly string[], number[]>
  cutCache: Pick<CutCache, 'open' | 'describe'>
  /** Maximum size of a result that is counted, because its text is in memory until then. */
  maxBytes: number
  /** Returns for how long no result was inspected, in milliseconds. */
  quietMs: () => number
  onInternalError: (error: unknown) => void
}

/** Maximum number of results that wait to be counted. Further ones stay estimates. */
const MAX_WAITING = 8
/** Nothing is counted until no result was inspected for this long, because callers wait for inspections. */
const MIN_QUIET_MS = 250
/** A result that is not counted by then stays an estimate. */
const MAX_COUNT_MS = 60_000
/** Pieces counted at once, which take less than a tenth of a second. Other jobs have their turns in between. */
const PIECES_AT_ONCE = 2

/** Bytes decoded at once. Decoding all of a long result would block the event loop. */
const DECODED_BYTES = 64 * 1_024

/** Decodes a text and splits it like `piecesOf`. */
function* decodePieces(utf8: Uint8Array): Generator<string> {
  const decoder = new TextDecoder()
  let rest = ''
  for (let at = 0; at < utf8.length; at += DECODED_BYTES) {
    rest += decoder.decode(utf8.subarray(at, at + DECODED_BYTES), { stream: true })
    const pieces = [...piecesOf(rest)]
    // Only the last piece depends on what follows.
    rest = pieces.pop() ?? ''
    yield* pieces
  }
  yield* piecesOf(rest + decoder.decode())
}

/**
 * Counts the tokens of stored results that were only estimated for the reply. Counts one result at a time in the worker
 * pool, in small pieces, and only while no result is inspected.
 */
export const createExactCounts = ({ countTexts, cutCache, maxBytes, quietMs, onInternalError }: ExactCountParts) => {
  const stop = new AbortController()
  let last: Promise<unknown> = Promise.resolve()
  /** The organizations of the results that wait. */
  const waiting: string[] = []

  /** Returns whether there is room. An organization has at most as many waiting as are free, so that others get room. */
  const hasRoom = (organizationId: string): boolean =>
    waiting.filter(one => one === organizationId).length < MAX_WAITING - waiting.length

  /** Waits until no result is inspected. Returns false if that takes too long. */
  const isQuietBefore = async (giveUpAt: number): Promise<boolean> => {
    while (performance.now() < giveUpAt) {
      if (quietMs() >= MIN_QUIET_MS) return true
      await wait(MIN_QUIET_MS, undefined, { signal: stop.signal, ref: false })
    }
    return false
  }

  const countText = async (
    utf8: Uint8Array,
    { serverId, organizationId }: EstimatedResult,
    giveUpAt: number,
  ): Promise<number | undefined> => {
    let sum = 0
    let batch: string[] = []
    const flush = async (): Promise<boolean> => {
      if (batch.length === 0) return true
      if (!(await isQuietBefore(giveUpAt))) return false
      const counted = await countTexts.run(serverId, batch, { group: organizationId, signal: stop.signal })
      if (!counted.ok) return false
      for (const tokens of counted.value) sum += tokens
      batch = []
      return true
    }
    for (const piece of decodePieces(utf8)) {
      batch.push(piece)
      if (batch.length === PIECES_AT_ONCE && !(await flush())) return undefined
    }
    return (await flush()) ? sum : undefined
  }

  const count = async (result: EstimatedResult): Promise<number | undefined> => {
    const { serverId, holder, cacheId, about } = result
    const giveUpAt = performance.now() + MAX_COUNT_MS
    const found = (await isQuietBefore(giveUpAt)) ? await cutCache.open(serverId, holder, cacheId) : undefined
    if (found === undefined) return undefined
    const tokens = await countText(await found.read(), result, giveUpAt)
    if (tokens !== undefined) cutCache.describe({ ...result, about: { ...about, tokens, isEstimated: false } })
    return tokens
  }

  const countSafely = async (result: EstimatedResult): Promise<number | undefined> => {
    try {
      return await count(result)
    } catch (error) {
      if (!stop.signal.aborted) onInternalError(error)
      return undefined
    } finally {
      waiting.splice(waiting.indexOf(result.organizationId), 1)
    }
  }

  return {
    /** Resolves to the tokens of a stored result, or to undefined if they stay an estimate. */
    count: (result: EstimatedResult): Promise<number | undefined> => {
      const isCounted = result.bytes <= maxBytes && hasRoom(result.organizationId) && !stop.signal.aborted
      if (!isCounted) return Promise.resolve(undefined)
      waiting.push(result.organizationId)
      const counted = last.then(() => countSafely(result))
      last = counted
      return counted
    },
    /** Ends the counts in progress and waiting. */
    close: (): void => stop.abort(),
  }
}

export type ExactCounts = ReturnType<typeof createExactCounts>
