import type { Database, Transaction } from '../../lib/db/client.ts'
import type { Changes } from '../../lib/events/changes.ts'
import type { EventBus } from '../../lib/events/event-bus.ts'
import { MAX_CONNECTION_WAIT_MS } from '../../lib/kernel/limits.ts'
import type { Result } from '../../lib/kernel/result.ts'
import { createHttpClient, type HttpClientOptions } from '../../lib/outbound/client.ts'
import type { Sealing } from '../../lib/process/sealing.ts'
import type { ResolutionFault } from '../config/compiled-config.ts'
import { AccountError } from '../connection/upstream-error.ts'
import type { ResolvedConfig } from '../upstream.ts'
import { EVERYBODY, type Holder } from './account.ts'
import { connectPath, describeAccountProblem } from './account-messages.ts'
import { listLatestHolders, takeAccountsOfRemovedServer, takeAccountsOfUser } from './accounts.store.ts'
import { createOAuthFetchFor, headersOf, type UpstreamHeaders } from './oauth-fetch.ts'
import { createPendingAuthorizations } from './pending-authorizations.ts'
import { createRevocations } from './revocations.ts'
import { createUpstreamClients } from './upstream-clients.ts'
import { createUpstreamTokens } from './upstream-tokens.ts'

/** Short, because the user waits while several requests run one after another. */
const REQUEST_TIMEOUT_MS = 5_000
/** Maximum response size, far above that of any real metadata or token response. */
const MAX_RESPONSE_BYTES = 64 * 1_024
/** Maximum sockets to an authorization server, which the upstreams of several organizations may share. */
const MAX_SOCKETS = 64
const MAX_SOCKETS_OF_ORGANIZATION = 16
const MAX_SOCKETS_OF_CREATOR = 32
/** Maximum callers whose accounts are tried for fetching the catalogue, most recent first. */
const MAX_HOLDERS_TRIED = 20

export type UpstreamOAuthParts = {
  db: Database
  changes: Changes
  bus: EventBus
  sealing: Sealing
  /** The network rules that also apply to upstreams. */
  network: Pick<HttpClientOptions, 'policy' | 'connectTimeoutMs' | 'ownOrigins' | 'findCreator' | 'lookup' | 'findBan'>
  baseUrl: string
  mayCall: (userId: string, serverId: string) => Promise<boolean>
  /** Resolves an upstream's current configuration, including secrets. Throws `not_found`. */
  resolve: (upstreamId: string) => Promise<Result<ResolvedConfig, ResolutionFault>>
}

/**
 * Builds everything that OAuth at upstreams needs: Patchbay's registrations, tokens, revocation and a guarded client.
 */
export const createUpstreamOAuth = (parts: UpstreamOAuthParts) => {
  const { db, changes, bus, sealing, network, baseUrl, mayCall, resolve } = parts
  const client = createHttpClient({
    ...network,
    connectTimeoutMs: Math.min(network.connectTimeoutMs, REQUEST_TIMEOUT_MS),
    // Neither the metadata endpoint nor the token endpoint may redirect.
    maxRedirects: 0,
    maxSockets: MAX_SOCKETS,
    share: {
      maxSockets: MAX_SOCKETS_OF_ORGANIZATION,
      maxSocketsOfCreator: MAX_SOCKETS_OF_CREATOR,
      maxWaitMs: MAX_CONNECTION_WAIT_MS,
    },
  })
  const bounds = { timeoutMs: REQUEST_TIMEOUT_MS, maxResponseBytes: MAX_RESPONSE_BYTES }
  const fetchFor = createOAuthFetchFor(client, bounds)
  const clients = createUpstreamClients({ db, sealing, baseUrl })
  const tokens = createUpstreamTokens({
    db,
    changes,
    sealing,
    fetchFor,
    resolve,
    findCurrentClient: clients.findCurrent,
    toError: (problem, upstreamId, holder) => {
      const url = `${baseUrl}${connectPath(upstreamId)}`
      return new AccountError(describeAccountProblem(problem, holder, url), holder === EVERYBODY ? undefined : url)
    },
  })
  /** Returns the upstream's configured headers. Undefined if it was removed or cannot be resolved. */
  const findHeaders = async (upstreamId: string): Promise<UpstreamHeaders | undefined> => {
    const resolved = await resolve(upstreamId).catch(() => undefined)
    return resolved?.ok ? headersOf(resolved.value) : undefined
  }
  const revocations = createRevocations({ fetchFor, findHeaders, clients, open: tokens.open })
  const subscriptions = [
    bus.subscribe('upstream_changed', ({ upstreamId }) => tokens.invalidate(upstreamId)),
    bus.subscribe('access_changed', ({ userId }) => tokens.invalidateHolder(userId)),
    bus.subscribe('server_removed', () => tokens.invalidateAll()),
    bus.subscribe('resync', () => tokens.invalidateAll()),
  ]

  /**
   * Returns the user whose account is used to fetch the catalogue for everybody. This user may still call the server.
   */
  const findLatestHolder = async (upstreamId: string, preferred: Holder | undefined): Promise<Holder | undefined> => {
    const latest = await listLatestHolders(db, upstreamId, MAX_HOLDERS_TRIED)
    const isPreferred = ({ holder }: { holder: Holder }): boolean => holder === preferred
    for (const { holder, serverId } of [...latest.filter(isPreferred), ...latest]) {
      if (await mayCall(holder, serverId)) return holder
    }
    return undefined
  }

  return {
    baseUrl,
    fetchFor,
    clients,
    tokens,
    revocations,
    /** Removes and revokes the accounts of a server that is marked as removed. */
    removeAccountsOfServer: async (serverId: string): Promise<void> => {
      revocations.revokeInBackground(await changes.commit(tx => takeAccountsOfRemovedServer(tx, serverId)))
    },
    /**
     * Removes a deleted user's own accounts within the transaction. After the commit, call the returned function to
     * revoke the accounts' tokens.
     */
    takeAccountsOfUser: async (tx: Transaction, userId: string): Promise<() => void> => {
      const taken = await takeAccountsOfUser(tx, userId)
      return () => revocations.revokeInBackground(taken)
    },
    pendingAuthorizations: createPendingAuthorizations(sealing),
    accounts: {
      authorizerOf: tokens.authorizerOf,
      assertConnected: tokens.assertConnected,
      findLatestHolder,
    },
    close: async (): Promise<void> => {
      for (const end of subscriptions) end()
      await revocations.close()
      await client.close()
      await tokens.close()
    },
  }
}

export type UpstreamOAuth = ReturnType<typeof createUpstreamOAuth>
