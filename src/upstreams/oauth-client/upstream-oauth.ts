import type { Database, Transaction } from '../../lib/db/client.ts'
import type { Changes } from '../../lib/events/changes.ts'
import type { EventBus } from '../../lib/events/event-bus.ts'
import { createBoundedFetch } from '../../lib/outbound/bounded-fetch.ts'
import { createHttpClient, type HttpClientOptions } from '../../lib/outbound/client.ts'
import type { Sealing } from '../../lib/process/sealing.ts'
import { AccountError } from '../connection/upstream-error.ts'
import { EVERYBODY, type Holder } from './account.ts'
import { connectPath, explainLack } from './account-words.ts'
import { listLatestHolders, takeAccountsOfRemovedServer, takeAccountsOfUser } from './accounts.store.ts'
import { createJourneys } from './journeys.ts'
import { createRevocations } from './revocations.ts'
import { createUpstreamClients } from './upstream-clients.ts'
import { createUpstreamTokens } from './upstream-tokens.ts'

/** One request to an authorization server: somebody waits for several of them, one after the other. */
const REQUEST_TIMEOUT_MS = 5_000
/** Far above any metadata or token. */
const MAX_ANSWER_BYTES = 64 * 1_024
const MAX_SOCKETS = 16
/** Of an upstream's latest callers so many are looked at for one by whose account it may be asked. */
const MAX_HOLDERS_ASKED = 20

export type UpstreamOAuthParts = {
  db: Database
  changes: Changes
  bus: EventBus
  sealing: Sealing
  /** How authorization servers are reached: as upstreams are. */
  network: Pick<HttpClientOptions, 'policy' | 'connectTimeoutMs' | 'ownOrigins' | 'lookup'>
  baseUrl: string
  /** Whether a user may call a server, at this moment. */
  mayCall: (userId: string, serverId: string) => Promise<boolean>
  /** Milliseconds since 1970. */
  now?: () => number
}

/** What accounts at upstreams are made of: who Patchbay is there, tokens, and the guarded way to who gives them out. */
export const createUpstreamOAuth = ({
  db,
  changes,
  bus,
  sealing,
  network,
  baseUrl,
  mayCall,
  now = Date.now,
}: UpstreamOAuthParts) => {
  const client = createHttpClient({
    ...network,
    connectTimeoutMs: Math.min(network.connectTimeoutMs, REQUEST_TIMEOUT_MS),
    // Neither metadata nor tokens are anywhere but where they are asked for.
    maxRedirects: 0,
    maxSockets: MAX_SOCKETS,
  })
  const fetch = createBoundedFetch(client, { timeoutMs: REQUEST_TIMEOUT_MS, maxResponseBytes: MAX_ANSWER_BYTES })
  const clients = createUpstreamClients({ db, sealing, fetch, baseUrl, now })
  const tokens = createUpstreamTokens({
    db,
    changes,
    sealing,
    fetch,
    findClientNow: clients.findNow,
    explain: (lack, upstreamId, holder) => {
      const url = `${baseUrl}${connectPath(upstreamId)}`
      return new AccountError(explainLack(lack, holder, url), holder === EVERYBODY ? undefined : url)
    },
    now,
  })
  const revocations = createRevocations({ fetch, clients, open: tokens.open })
  const subscriptions = [
    bus.subscribe('upstream_changed', ({ upstreamId }) => tokens.forget(upstreamId)),
    bus.subscribe('access_changed', ({ userId }) => tokens.forgetHolder(userId)),
    bus.subscribe('server_removed', () => tokens.forgetAll()),
    bus.subscribe('resync', () => tokens.forgetAll()),
  ]

  /** Whose account an upstream may be asked by for all: nobody's who may not call its server any more. */
  const findLatestHolder = async (upstreamId: string, preferred: Holder | undefined): Promise<Holder | undefined> => {
    const latest = await listLatestHolders(db, upstreamId, MAX_HOLDERS_ASKED)
    const isPreferred = ({ holder }: { holder: Holder }): boolean => holder === preferred
    for (const { holder, serverId } of [...latest.filter(isPreferred), ...latest]) {
      if (await mayCall(holder, serverId)) return holder
    }
    return undefined
  }

  return {
    baseUrl,
    fetch,
    clients,
    tokens,
    revocations,
    /** Of a server that is marked as removed: its accounts go, and are revoked. */
    endAccountsOfServer: async (serverId: string): Promise<void> => {
      revocations.revokeSoon(await changes.commit(tx => takeAccountsOfRemovedServer(tx, serverId)))
    },
    /** Of a user who goes: their own accounts go with the transaction, and what it answers revokes them afterwards. */
    takeAccountsOfUser: async (tx: Transaction, userId: string): Promise<() => void> => {
      const taken = await takeAccountsOfUser(tx, userId)
      return () => revocations.revokeSoon(taken)
    },
    journeys: createJourneys(sealing, now),
    now,
    /** For connections. */
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
