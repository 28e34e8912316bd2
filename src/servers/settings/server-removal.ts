import type { Database } from '../../lib/db/client.ts'
import * as store from '../servers.store.ts'

export type ServerRemovalParts = {
  db: Database
  /** Deletes the calls of a server and all that is known of them, in batches. */
  removeHistoryOf: (serverId: string, signal: AbortSignal) => Promise<void>
  /** Disconnects the server's accounts at upstreams. */
  endAccountsOf: (serverId: string) => Promise<void>
  logger: { warn: (details: object, message: string) => void }
}

/**
 * Finishes the removal of a server: deletes its history, which may take long, and then its row. Until then the row is
 * marked as removed, so nobody can see or call the server. If the process ends meanwhile, a later one continues.
 */
export const createServerRemoval = ({ db, removeHistoryOf, endAccountsOf, logger }: ServerRemovalParts) => {
  const stopping = new AbortController()
  const pending = new Set<Promise<void>>()

  const remove = async (serverId: string): Promise<void> => {
    try {
      await endAccountsOf(serverId)
      await removeHistoryOf(serverId, stopping.signal)
      if (!stopping.signal.aborted) await store.removeMarkedServer(db, serverId)
    } catch (error) {
      logger.warn(
        { err: error, serverId },
        'failed to delete the remaining data of a removed server; retrying within the hour',
      )
    }
  }

  /** Finishes a removal. Never rejects, because the server is already hidden. */
  const finish = (serverId: string): Promise<void> => {
    const removal = remove(serverId).finally(() => pending.delete(removal))
    pending.add(removal)
    return removal
  }

  return {
    finish,
    /** Continues removals that earlier processes left unfinished. */
    finishAll: async (signal: AbortSignal): Promise<void> => {
      for (const serverId of await store.listMarkedServerIds(db)) {
        if (signal.aborted) return
        await finish(serverId)
      }
    },
    /** Stops pending removals after their current batch. */
    close: async (): Promise<void> => {
      stopping.abort()
      await Promise.all(pending)
    },
  }
}
export type ServerRemoval = ReturnType<typeof createServerRemoval>
