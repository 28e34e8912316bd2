import type { EventEmitter } from 'node:events'
import type { IncomingMessage, ServerResponse } from 'node:http'
import { type AdapterPayload, type Client, errors, type InteractionResults } from 'oidc-provider'
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
import { findKnownClient } from './known-clients.store.ts'
import { AUTHORIZE_PATH } from './places.ts'
import { createProvider, SignInNeeded } from './provider.ts'
import { isServer, isUser } from './resource-servers.store.ts'
import type { Resources } from './resources.ts'
import { createRevocations } from './revocations.ts'
import { takeSigningKeys } from './signing-keys.store.ts'
import type { Visits } from './visits.ts'

export type EngineParts = {
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
  resources: Resources
  visits: Visits
  /** Milliseconds since 1970. */
  now: () => number
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

/** The authorization server's library, set up, and what our pages ask of it. */
export const createEngine = async (parts: EngineParts) => {
  const { db, changes, sealing, counters, logger, baseUrl, documents, refreshGraceMs, resources, visits, now } = parts
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
    /** Answers a request to one of the library's endpoints. */
    answer: provider.callback(),
    /** The question that a browser is asked; undefined when that is over. */
    findInteraction: async (request: IncomingMessage, response: ServerResponse) => {
      try {
        return await provider.interactionDetails(request, response)
      } catch (error) {
        if (error instanceof errors.SessionNotFound) return undefined
        throw error
      }
    },
    /** Answers that question; gives where the browser goes on. */
    finishInteraction: (
      request: IncomingMessage,
      response: ServerResponse,
      result: InteractionResults,
    ): Promise<string> => provider.interactionResult(request, response, result),
    findClient: (clientId: string): Promise<Client | undefined> => provider.Client.find(clientId),
    /** Whether the library's session of this id is the user's. */
    isSessionOf: async (id: string, userId: string | undefined): Promise<boolean> => {
      const session = await provider.Session.find(id)
      return session !== undefined && session.accountId === userId
    },
  }
}

export type Engine = Awaited<ReturnType<typeof createEngine>>
