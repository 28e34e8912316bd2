import type { Database } from '../lib/db/client.ts'
import type { Changes } from '../lib/events/changes.ts'
import type { EventBus } from '../lib/events/event-bus.ts'
import type { Lifecycle } from '../lib/process/lifecycle.ts'
import type { Logger } from '../lib/process/logger.ts'
import type { Sealing } from '../lib/process/sealing.ts'
import type { Settings } from '../lib/process/settings.ts'
import type { Chore } from '../lib/process/upkeep.ts'
import { createOAuthClientService } from './clients/oauth-clients.service.ts'
import { createOAuthTokens } from './grants/access-tokens.ts'
import { createGrantService } from './grants/grants.service.ts'
import { removeExpired } from './grants/sweep.ts'

export type OAuthNeeds = {
  db: Database
  changes: Changes
  bus: EventBus
  sealing: Sealing
  logger: Logger
  settings: Pick<Settings, 'baseUrl'>
}

/** Tokens, grants and clients; the authorization server itself is built with the HTTP server. */
export const oauthPlugin = ({ db, changes, bus, sealing, logger, settings }: OAuthNeeds, lifecycle: Lifecycle) => {
  const oauthTokens = createOAuthTokens({ db, bus, logger, baseUrl: settings.baseUrl })
  lifecycle.onClose(oauthTokens.close)
  const chores: Chore[] = [
    { name: 'remove expired tokens and unused clients', run: signal => removeExpired(db, new Date(), signal) },
  ]
  return {
    oauthTokens,
    grants: createGrantService({ db, changes }),
    oauthClients: createOAuthClientService({ db, changes, sealing }),
    chores,
  }
}
