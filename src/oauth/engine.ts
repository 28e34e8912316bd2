import type { EventEmitter } from 'node:events'
import type { IncomingMessage, ServerResponse } from 'node:http'
import { type AdapterPayload, type Client, errors } from 'oidc-provider'
import type { Database } from '../lib/db/client.ts'
import { isJsonObject } from '../lib/kernel/json.ts'
import type { Logger } from '../lib/process/logger.ts'
import type { Sealing } from '../lib/process/sealing.ts'
import { createAdapterFactory } from './adapter.ts'
import { openClientSecret } from './clients/client-secrets.ts'
import { findKnownClient } from './clients/known-clients.store.ts'
import type { EngineParts } from './engine-parts.ts'
import { createProvider, PageNeeded } from './provider.ts'
import { loadSigningKeys } from './signing-keys.store.ts'

/** Client ids are our own ids or URLs. PostgreSQL rejects strings that contain a NUL. */
const CLIENT_ID = /^[\x21-\x7e]{1,2048}$/

/** Finds registered clients, including their secrets, in the library's format. */
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
  // Emitted by Koa, which would print the error if the event had no listener.
  'error',
]

/** Logs failures, and also rejected requests, which show operators why a client does not connect. */
const logEvents = (events: EventEmitter, logger: Logger): void => {
  for (const event of REFUSALS) {
    events.on(event, (_ctx: unknown, refusal: unknown) => {
      if (!(refusal instanceof errors.OIDCProviderError) || refusal instanceof PageNeeded) return
      const { error, error_description: description, error_detail: detail } = refusal
      logger.info({ event, error, description, detail }, 'rejected an OAuth request')
    })
  }
  for (const event of FAILURES) {
    // Koa emits its event without a context argument.
    events.on(event, (...details: unknown[]) => {
      logger.error({ err: details.find(one => one instanceof Error) }, 'the authorization server failed')
    })
  }
}

/** Sets up the authorization server library for our endpoints and pages. */
export const createEngine = async (parts: EngineParts) => {
  const { db, sealing, logger } = parts
  const provider = createProvider({
    ...parts,
    adapter: createAdapterFactory({ ...parts, findClient: createClientFinder(db, sealing) }),
    signingKeys: await loadSigningKeys(db, sealing),
    cookieKeys: sealing.derive('oauth cookies').map(({ key }) => key.toString('base64url')),
  })
  logEvents(provider, logger)
  return {
    /** Handles a request to one of the library's endpoints. */
    handle: provider.callback(),
    /** Finds the pending interaction of a browser. Returns undefined if it has ended. */
    findInteraction: async (request: IncomingMessage, response: ServerResponse) => {
      try {
        return await provider.interactionDetails(request, response)
      } catch (error) {
        if (error instanceof errors.SessionNotFound) return undefined
        throw error
      }
    },
    /** Completes an interaction. Returns the URL to which the browser is redirected. */
    finishInteraction: provider.interactionResult.bind(provider),
    findClient: (clientId: string): Promise<Client | undefined> => provider.Client.find(clientId),
    /** Returns whether the library's session with this id belongs to the user. */
    isSessionOf: async (id: string, userId: string | undefined): Promise<boolean> => {
      const session = await provider.Session.find(id)
      return session !== undefined && session.accountId === userId
    },
  }
}

export type Engine = Awaited<ReturnType<typeof createEngine>>
