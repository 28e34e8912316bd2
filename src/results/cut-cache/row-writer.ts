import { setTimeout as wait } from 'node:timers/promises'
import { type CacheLimits, CLOSE_WAIT_MS } from './cache-limits.ts'
import { compress } from './compression.ts'
import type { SharedAnswer, SharedAnswerStore } from './cut-results.store.ts'

/** An answer to be written; its content is asked for when its turn comes, and may be gone by then. */
export type AnswerToShare = Omit<SharedAnswer, 'content'> & { read: () => Promise<Buffer | undefined> }

export type SharingOptions = {
  store: SharedAnswerStore
  limits: Pick<CacheLimits, 'ttlMs' | 'maxSharedBytes'>
  /** Milliseconds since 1970. */
  now: () => number
  /** Told what the database did not do; nobody waits for it. */
  onFault: (error: unknown) => void
}

/**
 * Writes to the database what other processes should find there, one statement after the other and in the background:
 * answers, that some were used, and that some are let go. What waits holds nothing but what is kept here anyway, as
 * long as what is let go here is told to `remove` or `forget`.
 */
export const createSharing = ({ store, limits, now, onFault }: SharingOptions) => {
  const waiting = new Map<string, AnswerToShare>()
  /** What lies in the database as far as this process knows, or is about to. */
  const known = new Set<string>()
  const used = new Map<string, number>()
  const removed = new Set<string>()
  const removedServers = new Set<string>()
  const stop = new AbortController()
  let underWay: Promise<void> | undefined
  let expiring: Promise<void> | undefined
  let writtenCount = 0
  let skippedCount = 0

  /** Whether it was written. */
  const put = async ({ read, ...answer }: AnswerToShare): Promise<boolean> => {
    const content = await read()
    const packed = content && (await compress(content))
    if (packed === undefined || packed.length > limits.maxSharedBytes) return false
    await store.put({ ...answer, content: packed })
    return true
  }

  const putNext = async (): Promise<void> => {
    const [next] = waiting.values()
    if (next === undefined) return
    waiting.delete(next.key)
    try {
      if (await put(next)) {
        writtenCount++
        return
      }
    } catch (error) {
      onFault(error)
    }
    skippedCount++
    known.delete(next.key)
  }

  const flushUsed = async (): Promise<void> => {
    if (used.size === 0) return
    const keys = [...used.keys()]
    const usedAt = Math.max(...used.values())
    used.clear()
    await store.renew(keys, usedAt)
  }

  const flushRemoved = async (): Promise<void> => {
    const [keys, servers] = [[...removed], [...removedServers]]
    removed.clear()
    removedServers.clear()
    if (keys.length > 0) await store.remove(keys)
    for (const serverId of servers) await store.removeServer(serverId, stop.signal)
  }

  const hasWork = (): boolean => waiting.size + used.size + removed.size + removedServers.size > 0

  const work = async (): Promise<void> => {
    while (hasWork() && !stop.signal.aborted) {
      await putNext()
      await flushUsed().catch(onFault)
      await flushRemoved().catch(onFault)
    }
  }

  const wake = (): void => {
    underWay ??= work().finally(() => {
      underWay = undefined
    })
  }

  const settle = async (): Promise<void> => {
    while (underWay !== undefined) await underWay
  }

  const forget = (key: string): void => {
    waiting.delete(key)
    known.delete(key)
  }

  return {
    share: (answer: AnswerToShare): void => {
      waiting.set(answer.key, answer)
      known.add(answer.key)
      wake()
    },
    /** It was found in the database: from now on its uses here are told there. */
    note: (key: string): void => {
      known.add(key)
    },
    renew: (key: string, usedAt: number): void => {
      const next = waiting.get(key)
      if (next !== undefined) waiting.set(key, { ...next, usedAt })
      else if (known.has(key)) {
        used.set(key, usedAt)
        wake()
      }
    },
    /** It is here no longer; others may have it still. */
    forget,
    /** It is to be nowhere any longer. */
    remove: (key: string): void => {
      const mayBeThere = known.has(key) && !waiting.has(key)
      forget(key)
      used.delete(key)
      if (!mayBeThere) return
      removed.add(key)
      wake()
    },
    removeServer: (serverId: string): void => {
      removedServers.add(serverId)
      wake()
    },
    removeExpired: (): Promise<void> => {
      expiring ??= store
        .removeExpired(now(), limits.ttlMs, stop.signal)
        .catch(onFault)
        .finally(() => {
          expiring = undefined
        })
      return expiring
    },
    /** Resolves when all that was to be written is. */
    settle,
    counts: () => ({ waiting: waiting.size, written: writtenCount, skipped: skippedCount }),
    /** Writes what waits, for a moment; then begins no more statement, and leaves the one under way to the database. */
    close: async (): Promise<void> => {
      const patience = new AbortController()
      await Promise.race([settle(), wait(CLOSE_WAIT_MS, undefined, { signal: patience.signal }).catch(() => {})])
      patience.abort()
      stop.abort()
    },
  }
}
