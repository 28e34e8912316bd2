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
  onInternalError: (error: unknown) => void
}

/** Maximum number of results that wait to be counted. Further ones stay estimates. */
const MAX_WAITING = 8
/** Pieces counted at once, which take less than a tenth of a second. Other jobs have their turns in between. */
const PIECES_AT_ONCE = 2

/**
 * Counts the tokens of stored results that were only estimated for the reply. Counts one result at a time in the worker
 * pool, in small pieces.
 */
export const createExactCounts = ({ countTexts, cutCache, maxBytes, onInternalError }: ExactCountParts) => {
  const stop = new AbortController()
  let last: Promise<unknown> = Promise.resolve()
  let waiting = 0

  const countText = async (text: string, owner: string, group: string): Promise<number | undefined> => {
    let sum = 0
    let batch: string[] = []
    const flush = async (): Promise<boolean> => {
      if (batch.length === 0) return true
      const counted = await countTexts.run(owner, batch, { group, signal: stop.signal })
      if (!counted.ok) return false
      for (const tokens of counted.value) sum += tokens
      batch = []
      return true
    }
    for (const piece of piecesOf(text)) {
      batch.push(piece)
      if (batch.length === PIECES_AT_ONCE && !(await flush())) return undefined
    }
    return (await flush()) ? sum : undefined
  }

  const count = async (result: EstimatedResult): Promise<number | undefined> => {
    const { serverId, organizationId, holder, cacheId, about } = result
    const found = await cutCache.open(serverId, holder, cacheId)
    if (found === undefined) return undefined
    const text = (await found.read()).toString('utf8')
    const tokens = await countText(text, serverId, organizationId)
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
      waiting--
    }
  }

  return {
    /** Resolves to the tokens of a stored result, or to undefined if they stay an estimate. */
    count: (result: EstimatedResult): Promise<number | undefined> => {
      const isCounted = result.bytes <= maxBytes && waiting < MAX_WAITING && !stop.signal.aborted
      if (!isCounted) return Promise.resolve(undefined)
      waiting++
      const counted = last.then(() => countSafely(result))
      last = counted
      return counted
    },
    /** Ends the counts in progress and waiting. */
    close: (): void => stop.abort(),
  }
}

export type ExactCounts = ReturnType<typeof createExactCounts>
