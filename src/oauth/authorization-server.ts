import type { EventEmitter } from 'node:events'
import { type AdapterPayload, errors } from 'oidc-provider'
import { isJsonObject } from '../kernel/index.ts'
import type { Counters } from '../platform/counters/index.ts'
import type { Database } from '../platform/db/index.ts'
import type { Changes } from '../platform/events/index.ts'
import type { Logger } from '../platform/logger.ts'
import type { HttpClient } from '../platform/net/index.ts'
import type { Sealing } from '../platform/sealing.ts'
import { createAdapterFactory } from './adapter.ts'
import { openClientSecret } from './client-secrets.ts'
import { findGrantId } from './consents.store.ts'
import { createConsents } from './consents.ts'
import { createFloodGate } from './flood-gate.ts'
import { createHandOver } from './hand-over.ts'
import { findKnownClient } from './known-clients.store.ts'
import { AUTHORIZE_PATH, createProvider, SignInNeeded } from './provider.ts'
import { createRegistrations } from './registration.ts'
import { findResourceServer, isServer, isUser } from './resource-servers.store.ts'
import { createResources } from './resources.ts'
import { createRevocations } from './revocations.ts'
import { takeSigningKeys } from './signing-keys.store.ts'
import { createVisits } from './visits.ts'

export type AuthorizationServerParts = {
  db: Database
  changes: Changes
  sealing: Sealing
  counters: Counters
  logger: Logger
  baseUrl: string
  /** Fetches client metadata documents, from public addresses alone. */
  documents: Pick<HttpClient, 'send'>
  /** How long a refresh token that was used may be used again; 0: never. */
  refreshGraceMs: number
  /** Milliseconds since 1970. */
  now?: () => number
}

/** Ids are ours, or URLs. PostgreSQL refuses to look for what holds a NUL. */
const CLIENT_ID = /^[\x21-\x7e]{1,2048}$/

/** Registered clients as the library takes them, with the secret of those that have one. */
const createClientFinder =
  (db: Database, sealing: Sealing) =>
  async (clientId: string): Promise<AdapterPayload | undefined> => {
    const client = CLIENT_ID.test(clientId) ? await findKnownClient(db, clientId) : undefined
    if (client === undefined || !isJsonObject(client.metadata)) return undefined
    const { organizationId, metadata, sealed } = client
    const secret = sealed && openClientSecret(sealing, { organizationId, clientId }, sealed)
    return { ...metadata, client_id: clientId, ...(secret !== undefined && { client_secret: secret }) }
  }

const REFUSALS = ['authorization.error', 'grant.error', 'revocation.error']
const FAILURES = [
  'server_error',
  // What its web framework would print.
  'error',
]

/** Refusals are told to the operator as well, who looks for why a client does not connect. */
const logEvents = (events: EventEmitter, logger: Logger): void => {
  for (const event of REFUSALS) {
    events.on(event, (_ctx: unknown, refusal: unknown) => {
      if (!(refusal instanceof errors.OIDCProviderError) || refusal instanceof SignInNeeded) return
      const { error, error_description: description, error_detail: detail } = refusal
      logger.info({ event, error, description, detail }, 'an OAuth request was refused')
    })
  }
  for (const event of FAILURES) {
    // The framework's own comes without a context.
    events.on(event, (...details: unknown[]) => {
      logger.error({ err: details.find(one => one instanceof Error) }, 'the authorization server failed')
    })
  }
}

/** The OAuth 2.1 authorization server: its engine, and what its pages and endpoints need besides. */
export const createAuthorizationServer = async (parts: AuthorizationServerParts) => {
  const { db, changes, sealing, counters, logger, baseUrl, documents, refreshGraceMs, now = Date.now } = parts
  const resources = createResources(baseUrl)
  const visits = createVisits()
  const adapter = createAdapterFactory({
    db,
    changes,
    revocations: createRevocations(changes),
    resources,
    findClient: createClientFinder(db, sealing),
    refreshGraceMs,
    returnAddressOf: uid => `${baseUrl}${AUTHORIZE_PATH}/${uid}`,
    now,
  })
  const provider = createProvider({
    baseUrl,
    adapter,
    signingKeys: await takeSigningKeys(db, sealing),
    cookieKeys: sealing.derive('oauth cookies').map(({ key }) => key.toString('base64url')),
    counters,
    documents,
    resources,
    visits,
    isServer: id => isServer(db, id),
    isUser: id => isUser(db, id),
    findGrantId: parties => findGrantId(db, parties),
  })
  logEvents(provider, logger)
  return {
    provider,
    handOver: createHandOver(provider, baseUrl),
    visits,
    resources,
    counters,
    gate: createFloodGate(),
    consents: createConsents({ changes, resources, now }),
    registrations: createRegistrations({ db, sealing, now }),
    findResourceServer: (id: string) => findResourceServer(db, id),
  }
}
