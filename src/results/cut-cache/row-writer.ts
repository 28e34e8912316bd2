import { setTimeout as wait } from 'node:timers/promises'
import type { CutResultRow, CutResultStore } from './cut-results.store.ts'

/** How long `close` waits for pending rows, so that clients can continue on other replicas. */
const CLOSE_WAIT_MS = 2_000

/** A cache entry. `row` says whether the database has it because this process wrote or found it there. */
export type CutResultEntry = Omit<CutResultRow, 'key' | 'usedAt'> & { row: 'none' | 'written' | 'found' }

export type RowWriterOptions = {
  store: Pick<CutResultStore, 'put' | 'renew' | 'remove'>
  /** Returns the current entry without marking it as used. */
  peek: (key: string) => CutResultEntry | undefined
  /** Milliseconds since 1970. */
  now: () => number
  onError: (error: unknown) => void
}

/**
 * Writes changed entries to the database in the background, one statement at a time, so that calls never wait for the
 * database. Only keys are queued, so memory stays bounded while the database is slow.
 */
export const createRowWriter = ({ store, peek, now, onError }: RowWriterOptions) => {
  const changed = new Map<string, 'save' | 'remove'>()
  let running: Promise<void> | undefined
  let isStopped = false

  const save = async (key: string): Promise<void> => {
    const entry = peek(key)
    if (entry === undefined) return
    if (entry.row !== 'none') return store.renew(key, now())
    const { serverId, holder, about, content } = entry
    await store.put({ key, serverId, holder, about, content, usedAt: now() })
    entry.row = 'written'
    // Removes the row again if the entry was evicted during the write.
    if (peek(key) !== entry) await store.remove(key)
  }

  const writeAll = async (): Promise<void> => {
    for (const [key, change] of changed) {
      if (isStopped) return
      changed.delete(key)
      await (change === 'save' ? save(key) : store.remove(key)).catch(onError)
    }
  }

  const add = (key: string, change: 'save' | 'remove'): void => {
    changed.set(key, change)
    running ??= writeAll().finally(() => {
      running = undefined
    })
  }

  return {
    /** Queues a write of the entry, or a restart of its row's time to live. */
    save: (key: string): void => add(key, 'save'),
    /** Queues the deletion of an evicted entry's row, unless another process wrote the row. */
    remove: (key: string, { row }: CutResultEntry): void => {
      changed.delete(key)
      if (row === 'written') add(key, 'remove')
    },
    /** Resolves when everything is written. */
    settle: async (): Promise<void> => running,
    /** Waits briefly for pending rows, and stops writing. */
    close: async (): Promise<void> => {
      const timer = new AbortController()
      await Promise.race([running, wait(CLOSE_WAIT_MS, undefined, { signal: timer.signal }).catch(() => {})])
      timer.abort()
      isStopped = true
    },
  }
}
