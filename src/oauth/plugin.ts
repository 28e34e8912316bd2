import type { Database } from '../lib/db/client.ts'
import type { DatabaseHealth } from '../lib/db/health.ts'
import type { Changes } from '../lib/events/changes.ts'
import type { EventBus } from '../lib/events/event-bus.ts'
import { MAX_SOCKETS_PER_ORIGIN } from '../lib/kernel/limits.ts'
import { createAddressPolicy } from '../lib/outbound/address-policy.ts'
import { createHttpClient, type HttpClientOptions } from '../lib/outbound/client.ts'
import type { Lifecycle } from '../lib/process/lifecycle.ts'
import type { Logger } from '../lib/process/logger.ts'
import type { Sealing } from '../lib/process/sealing.ts'
import type { Settings } from '../lib/process/settings.ts'
import { createOAuthClientService } from './clients/oauth-clients.service.ts'
import { createOAuthTokens } from './grants/access-tokens.ts'
import { createGrantService } from './grants/grants.service.ts'
import { removeExpired } from './grants/sweep.ts'

export type OAuthNeeds = {
  db: Database
  databaseHealth: DatabaseHealth
  changes: Changes
  bus: EventBus
  sealing: Sealing
  logger: Logger
  settings: Pick<Settings, 'baseUrl'>
  network: Pick<HttpClientOptions, 'connectTimeoutMs' | 'ownOrigins' | 'lookup' | 'findBan'>
  /** Overrides the addresses from which client metadata documents may be fetched. */
  documents: Pick<HttpClientOptions, 'policy' | 'lookup'> | undefined
}

/**
 * Builds the services for tokens, grants and clients. The authorization server itself is built with the HTTP server.
 */
export const oauthPlugin = (needs: OAuthNeeds, lifecycle: Lifecycle) => {
  const { db, databaseHealth, changes, bus, sealing, logger, settings, network, documents } = needs
  const documentClient = createHttpClient({
    ...network,
    // Anybody can choose the addresses of these documents, so private networks stay blocked,
    // whatever the settings allow.
    policy: createAddressPolicy({ allow: [] }),
    maxRedirects: 0,
    maxSockets: MAX_SOCKETS_PER_ORIGIN,
    ...documents,
  })
  lifecycle.onClose(documentClient.close)
  const oauthTokens = createOAuthTokens({ db, databaseHealth, bus, logger, baseUrl: settings.baseUrl })
  lifecycle.onClose(oauthTokens.close)
  lifecycle.addChores({
    name: 'remove expired tokens and unused clients',
    run: signal => removeExpired(db, new Date(), signal),
  })
  return {
    documentClient,
    oauthTokens,
    grants: createGrantService({ db, changes }),
    oauthClients: createOAuthClientService({ db, changes, sealing }),
  }
}
