import { setTimeout as wait } from 'node:timers/promises'
import type { BoundedFetch } from '../../lib/outbound/bounded-fetch.ts'
import type { AccountContent } from './account.ts'
import type { StoredAccount } from './accounts.store.ts'
import { revokeTokens } from './revoke.ts'
import type { UpstreamClients } from './upstream-clients.ts'

/** Accounts revoked at once: an authorization server that does not answer holds up so many others. */
const MAX_AT_ONCE = 4
/** Accounts that wait for their turn; of more than that the tokens are only forgotten. */
const MAX_WAITING = 1_000
/** What a stop waits for those under way. */
const STOP_MS = 2_000

export type RevocationsParts = {
  fetch: BoundedFetch
  clients: Pick<UpstreamClients, 'findNow'>
  /** Opens what is sealed of an account; throws where its key is not held any more. */
  open: (account: StoredAccount) => { content: AccountContent }
}

/**
 * Tells authorization servers of accounts that are gone here. Best effort: whoever removed them waits for none of it, and
 * what does not get through is only forgotten.
 */
export const createRevocations = ({ fetch, clients, open }: RevocationsParts) => {
  const waiting: StoredAccount[] = []
  const underWay = new Set<Promise<void>>()
  let isClosed = false

  const revoke = async (account: StoredAccount): Promise<void> => {
    // By a key that is not held any more there is nothing to revoke.
    const { content } = open(account)
    const client = await clients.findNow(account.upstreamId, content.client, content.server.issuer)
    await revokeTokens({ ...content, client }, fetch)
  }

  const goOn = (): void => {
    while (underWay.size < MAX_AT_ONCE && !isClosed) {
      const next = waiting.shift()
      if (next === undefined) return
      const own: Promise<void> = revoke(next)
        .catch(() => {})
        .finally(() => {
          underWay.delete(own)
          goOn()
        })
      underWay.add(own)
    }
  }

  return {
    /** After they are gone from the database. Never throws. */
    revokeSoon: (accounts: readonly StoredAccount[]): void => {
      waiting.push(...accounts.slice(0, MAX_WAITING - waiting.length))
      goOn()
    },
    close: async (): Promise<void> => {
      isClosed = true
      waiting.length = 0
      await Promise.race([Promise.all(underWay), wait(STOP_MS, undefined, { ref: false })])
    },
  }
}

export type Revocations = ReturnType<typeof createRevocations>
