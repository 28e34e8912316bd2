import type { Database } from '../../lib/db/client.ts'
import * as store from '../servers.store.ts'

export type ServerRemovalParts = {
  db: Database
  /** Deletes what is kept of a server's calls in small pieces; `signal` ends it after one of them. */
  removeHistoryOf: (serverId: string, signal: AbortSignal) => Promise<void>
  /** Ends the accounts at other services that its calls went by. */
  endAccountsOf: (serverId: string) => Promise<void>
  logger: { warn: (details: object, message: string) => void }
}

/**
 * The slow part of a server's removal: its history, which may be of any length, and then its row. Until then the row is
 * marked as removed, so that nobody sees the server or calls it; a process that ends in between leaves that to the next.
 */
export const createServerRemoval = ({ db, removeHistoryOf, endAccountsOf, logger }: ServerRemovalParts) => {
  const stopping = new AbortController()
  const underWay = new Set<Promise<void>>()

  const remove = async (serverId: string): Promise<void> => {
    try {
      await endAccountsOf(serverId)
      await removeHistoryOf(serverId, stopping.signal)
      if (!stopping.signal.aborted) await store.removeMarkedServer(db, serverId)
    } catch (error) {
      logger.warn({ err: error, serverId }, 'the rest of a removed server is still there; it goes within the hour')
    }
  }

  /** Never rejects: the server is gone for everybody already. */
  const finish = (serverId: string): Promise<void> => {
    const removal = remove(serverId).finally(() => underWay.delete(removal))
    underWay.add(removal)
    return removal
  }

  return {
    finish,
    /** What processes before left half done. */
    finishAll: async (signal: AbortSignal): Promise<void> => {
      for (const serverId of await store.listMarkedServerIds(db)) {
        if (signal.aborted) return
        await finish(serverId)
      }
    },
    /** Ends what is under way after the piece it is at. */
    close: async (): Promise<void> => {
      stopping.abort()
      await Promise.all(underWay)
    },
  }
}
export type ServerRemoval = ReturnType<typeof createServerRemoval>
