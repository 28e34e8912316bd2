import type { OrganizationScope } from '../../history/query/execution-filters.ts'

export type ScopeWatchParts = {
  /** Lists the ids of the newest calls of a scope, from all processes. */
  listNewest: (scope: OrganizationScope) => Promise<readonly string[]>
  onTrouble: (error: unknown, organizationId: string) => void
}

/** How often the history is read. One read serves all listeners who see the same calls. */
const READ_EVERY_MS = 1_000
/**
 * A pause this many times as long as the read before it. Where few of many calls may be seen, a read takes long, and with
 * SQLite it blocks this thread.
 */
const PAUSE_FACTOR = 20

type Watch = { listeners: Set<() => void>; timer: NodeJS.Timeout | undefined; known: ReadonlySet<string> | undefined }

/** Watches the calls of organizations as long as there are listeners. Tells them that there are new calls. */
export const createScopeWatches = ({ listNewest, onTrouble }: ScopeWatchParts) => {
  const watches = new Map<string, Watch>()

  const read = async (scope: OrganizationScope, watch: Watch): Promise<void> => {
    const startedMs = performance.now()
    try {
      const newest = await listNewest(scope)
      const { known } = watch
      watch.known = new Set(newest)
      if (known !== undefined && newest.some(id => !known.has(id))) for (const tell of [...watch.listeners]) tell()
    } catch (error) {
      // Keep polling: the database may be available again next time.
      onTrouble(error, scope.organizationId)
    }
    if (watch.listeners.size === 0) return
    const pauseMs = Math.max(READ_EVERY_MS, (performance.now() - startedMs) * PAUSE_FACTOR)
    watch.timer = setTimeout(() => void read(scope, watch), pauseMs)
    watch.timer.unref()
  }

  return {
    /** Subscribes a listener and returns a function that unsubscribes it. */
    watch: (scope: OrganizationScope, listener: () => void): (() => void) => {
      const { ownServerIds, readerId } = scope
      const key = JSON.stringify(ownServerIds.length === 0 ? { ...scope, readerId: '' } : { ...scope, readerId })
      const known = watches.get(key)
      const watch = known ?? { listeners: new Set(), timer: undefined, known: undefined }
      watches.set(key, watch)
      watch.listeners.add(listener)
      if (known === undefined) void read(scope, watch)
      return () => {
        watch.listeners.delete(listener)
        if (watch.listeners.size > 0) return
        clearTimeout(watch.timer)
        if (watches.get(key) === watch) watches.delete(key)
      }
    },
  }
}
