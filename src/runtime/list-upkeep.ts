import { isDeepStrictEqual } from 'node:util'
import { LRUCache } from 'lru-cache'
import { noteCutResult } from '../history/response-sizes.store.ts'
import type { Database } from '../lib/db/client.ts'
import type { Changes } from '../lib/events/changes.ts'
import { readListingBasis } from '../servers/blueprint.store.ts'
import {
  type CutResultListing,
  decideListing,
  dependsOnUse,
  type LimitedInstance,
} from '../servers/settings/cut-result-listing.ts'
import type { ListBasis } from './call/compiled-server.ts'

/** Maximum number of servers whose lists are checked: as many as are mounted. */
const MAX_SERVERS = 5_000

export type ListUpkeepParts = {
  db: Database
  changes: Pick<Changes, 'commit'>
  isKnownSmall: (instance: LimitedInstance) => boolean
  onInternalError: (error: unknown) => void
}

type Now = Pick<ListBasis, 'cutResultTools' | 'mostUsed'>

const isSame = (now: Now, { cutResultTools, mostUsed, nameMostUsed }: ListBasis): boolean =>
  now.cutResultTools.isListed === cutResultTools.isListed &&
  isDeepStrictEqual(nameMostUsed?.(now.mostUsed), nameMostUsed?.(mostUsed))

/** Announces a change of compiled servers when their lists would differ because of how their tools were used. */
export const createListUpkeep = ({ db, changes, isKnownSmall, onInternalError }: ListUpkeepParts) => {
  const compiled = new LRUCache<string, ListBasis>({ max: MAX_SERVERS })
  const underWay = new Set<Promise<boolean>>()

  const readBasis = async (serverId: string): Promise<Now | undefined> => {
    const basis = await readListingBasis(db, serverId)
    return basis && { cutResultTools: decideListing(basis, isKnownSmall), mostUsed: basis.use.mostUsed }
  }

  const recheckOne = async (serverId: string, before: ListBasis): Promise<void> => {
    const now = await readBasis(serverId)
    if (now !== undefined && isSame(now, before)) return
    if (now !== undefined) await changes.commit(async (_, announce) => announce({ type: 'server_changed', serverId }))
    // Compiling the server adds it again, perhaps already now.
    if (compiled.peek(serverId) === before) compiled.delete(serverId)
  }

  const noteCut = (serverId: string, tool: string, { isListed }: CutResultListing): Promise<void> =>
    changes.commit(async (tx, announce) => {
      await noteCutResult(tx, serverId, tool, new Date())
      if (!isListed) announce({ type: 'server_changed', serverId })
    })

  return {
    /** Remembers what the lists of a compiled server depend on, if they depend on how its tools are used. */
    noteCompiled: (serverId: string, basis: ListBasis): void => {
      if (dependsOnUse(basis.cutResultTools) || basis.nameMostUsed !== undefined) compiled.set(serverId, basis)
      else compiled.delete(serverId)
    },
    /**
     * Records that a result was cut, after which the tools that read it are listed. Returns whether it was recorded.
     * Never rejects.
     */
    onCut: (serverId: string, tool: string, listing: CutResultListing): Promise<boolean> => {
      const noting = noteCut(serverId, tool, listing)
        .then(
          () => true,
          (error: unknown) => {
            onInternalError(error)
            return false
          },
        )
        .finally(() => underWay.delete(noting))
      underWay.add(noting)
      return noting
    },
    /** Checks the lists of these servers, as far as this process has compiled them. */
    recheckServers: async (serverIds: readonly string[]): Promise<void> => {
      for (const serverId of serverIds) {
        const basis = compiled.peek(serverId)
        if (basis !== undefined) await recheckOne(serverId, basis)
      }
    },
    /** Checks the lists of all compiled servers. A server that could not be checked is checked again the next time. */
    recheck: async (signal: AbortSignal): Promise<void> => {
      const errors: unknown[] = []
      for (const [serverId, basis] of [...compiled.entries()]) {
        if (signal.aborted) return
        await recheckOne(serverId, basis).catch((error: unknown) => errors.push(error))
      }
      // One for all, because they usually have the same cause.
      if (errors.length > 0) throw errors[0]
    },
    /** Resolves once everything is recorded. */
    close: async (): Promise<void> => {
      await Promise.all(underWay)
    },
  }
}
export type ListUpkeep = ReturnType<typeof createListUpkeep>
