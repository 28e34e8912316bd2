import { setTimeout as wait } from 'node:timers/promises'
import type { AccountContent } from './account.ts'
import type { StoredAccount } from './accounts.store.ts'
import type { OAuthFetchFor, UpstreamHeaders } from './oauth-fetch.ts'
import { revokeTokens } from './revoke.ts'
import type { UpstreamClients } from './upstream-clients.ts'

/** More than 1, so that an unresponsive authorization server does not delay the others. */
const MAX_CONCURRENT = 4
/** Maximum accounts waiting for revocation. The tokens of any others are deleted without being revoked. */
const MAX_QUEUED = 1_000
/** How long shutdown waits for revocations in progress. */
const CLOSE_TIMEOUT_MS = 2_000

export type RevocationsParts = {
  fetchFor: OAuthFetchFor
  /** Returns the upstream's configured headers. Undefined if it was removed or cannot be resolved. Never rejects. */
  findHeaders: (upstreamId: string) => Promise<UpstreamHeaders | undefined>
  clients: Pick<UpstreamClients, 'findCurrent'>
  /** Decrypts an account; throws if its master key was removed. */
  open: (account: StoredAccount) => { content: AccountContent }
}

/** Revokes the tokens of deleted accounts at their authorization servers, in the background. Failures are ignored. */
export const createRevocations = ({ fetchFor, findHeaders, clients, open }: RevocationsParts) => {
  const queue: StoredAccount[] = []
  const inProgress = new Set<Promise<void>>()
  let isClosed = false

  const revoke = async (account: StoredAccount): Promise<void> => {
    const { content } = open(account)
    const client = await clients.findCurrent(account.upstreamId, content)
    const headers = await findHeaders(account.upstreamId)
    await revokeTokens({ ...content, client }, fetchFor(account.organizationId, headers, content.server.issuer))
  }

  const startNext = (): void => {
    while (inProgress.size < MAX_CONCURRENT && !isClosed) {
      const next = queue.shift()
      if (next === undefined) return
      const own: Promise<void> = revoke(next)
        .catch(() => {})
        .finally(() => {
          inProgress.delete(own)
          startNext()
        })
      inProgress.add(own)
    }
  }

  return {
    /** Call it after the accounts are deleted from the database. Never throws. */
    revokeInBackground: (accounts: readonly StoredAccount[]): void => {
      queue.push(...accounts.slice(0, MAX_QUEUED - queue.length))
      startNext()
    },
    close: async (): Promise<void> => {
      isClosed = true
      queue.length = 0
      await Promise.race([Promise.all(inProgress), wait(CLOSE_TIMEOUT_MS, undefined, { ref: false })])
    },
  }
}

export type Revocations = ReturnType<typeof createRevocations>
