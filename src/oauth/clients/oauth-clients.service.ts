import { randomUUID } from 'node:crypto'
import { writeAudit } from '../../identity/audit/audit.store.ts'
import { differences } from '../../identity/audit/audit-entry.ts'
import type { Database, Transaction } from '../../lib/db/client.ts'
import type { Changes } from '../../lib/events/changes.ts'
import type { IdPage } from '../../lib/http/id-paging.ts'
import { type Actor, assertMay, organizationIdsOf } from '../../lib/kernel/actor.ts'
import { AppError, type FieldError } from '../../lib/kernel/errors.ts'
import type { JsonObject } from '../../lib/kernel/json.ts'
import { orThrow } from '../../lib/kernel/missing.ts'
import type { Sealing } from '../../lib/process/sealing.ts'
import { makeClientSecret } from './client-secrets.ts'
import { createClient } from './known-clients.store.ts'
import type { OAuthClient } from './oauth-client.ts'
import * as store from './oauth-clients.store.ts'
import { checkRedirectUri } from './redirects.ts'
import { normalizeRegistration } from './registration.ts'

/** Maximum number of manually registered clients per organization. */
const MAX_CLIENTS = 100

type OAuthClientInput = Pick<OAuthClient, 'name' | 'redirectUris' | 'tokenEndpointAuthMethod'>
type OAuthClientChanges = { name?: string | undefined; redirectUris?: readonly string[] | undefined }

/** A new client with its secret, which is available only here. */
export type NewClient = OAuthClient & { clientSecret: string | undefined }

const invalidRedirects = (errors: readonly FieldError[]): AppError =>
  new AppError('invalid_request', 'Some redirect URIs are not allowed.', { errors })

/** Builds a client's metadata, under the same rules as for clients that register themselves. */
const toMetadata = ({ name, redirectUris, tokenEndpointAuthMethod }: OAuthClientInput): JsonObject => {
  const errors = redirectUris.flatMap((uri, index) => {
    const checked = checkRedirectUri(uri)
    return checked.ok ? [] : [{ path: `redirectUris[${index}]`, message: checked.error }]
  })
  if (errors.length > 0) throw invalidRedirects(errors)
  const normal = normalizeRegistration({
    client_name: name,
    redirect_uris: redirectUris,
    token_endpoint_auth_method: tokenEndpointAuthMethod,
  })
  if (!normal.ok) throw invalidRedirects([{ path: 'redirectUris', message: normal.error.description }])
  return normal.value
}

const noClient = () => new AppError('not_found', 'There is no such client.')

const getClientFor = async (tx: Transaction, actor: Actor, id: string): Promise<OAuthClient> => {
  const client = orThrow(await store.findClient(tx, id, organizationIdsOf(actor)), noClient)
  assertMay(actor, client.organizationId, 'manage')
  return client
}

const entryOf = (actor: Actor, { id, name, organizationId }: OAuthClient) => ({
  actor,
  organizationId,
  target: { type: 'oauth_client', id, name },
})

const auditedFieldsOf = ({ name, redirectUris }: OAuthClient) => ({ name, redirectUris: [...redirectUris] })

export type OAuthClientServiceParts = { db: Database; changes: Changes; sealing: Sealing }

/** Creates the service for clients that an organization registers manually. Only its admins may use it. */
export const createOAuthClientService = ({ db, changes, sealing }: OAuthClientServiceParts) => ({
  createClient: (actor: Actor, organizationId: string, input: OAuthClientInput): Promise<NewClient> => {
    assertMay(actor, organizationId, 'manage')
    const metadata = toMetadata(input)
    const isPublic = input.tokenEndpointAuthMethod === 'none'
    return changes.commit(async tx => {
      if ((await store.countClients(tx, organizationId)) >= MAX_CLIENTS) {
        throw new AppError('limit_exceeded', `An organization can register at most ${MAX_CLIENTS} clients manually.`)
      }
      const owner = { organizationId, clientId: randomUUID() }
      const { secret: clientSecret, sealed } = makeClientSecret(sealing, owner, isPublic)
      const { id } = await createClient(tx, { ...owner, metadata, sealed })
      const client = await getClientFor(tx, actor, id)
      const change = { clientId: client.clientId, redirectUris: [...client.redirectUris] }
      await writeAudit(tx, { ...entryOf(actor, client), action: 'oauth_client.created', change })
      return { ...client, clientSecret }
    })
  },

  listClients: (actor: Actor, organizationId: string, page: IdPage): Promise<OAuthClient[]> => {
    assertMay(actor, organizationId, 'manage')
    return store.listClients(db, organizationId, page)
  },

  getClient: (actor: Actor, id: string): Promise<OAuthClient> => getClientFor(db, actor, id),

  updateClient: (actor: Actor, id: string, input: OAuthClientChanges): Promise<OAuthClient> =>
    changes.commit(async tx => {
      const before = await getClientFor(tx, actor, id)
      const metadata = toMetadata({
        name: input.name ?? before.name,
        redirectUris: input.redirectUris ?? before.redirectUris,
        tokenEndpointAuthMethod: before.tokenEndpointAuthMethod,
      })
      await store.updateClientMetadata(tx, id, metadata)
      const after = await getClientFor(tx, actor, id)
      const change = differences(auditedFieldsOf(before), auditedFieldsOf(after)) ?? {}
      await writeAudit(tx, { ...entryOf(actor, after), action: 'oauth_client.changed', change })
      return after
    }),

  /** Also revokes everything granted to the client. */
  removeClient: (actor: Actor, id: string): Promise<void> =>
    changes.commit(async (tx, announce) => {
      const client = await getClientFor(tx, actor, id)
      const userIds = await store.removeClient(tx, client)
      const change = { clientId: client.clientId, endedGrants: userIds.length }
      await writeAudit(tx, { ...entryOf(actor, client), action: 'oauth_client.removed', change })
      for (const userId of userIds) announce({ type: 'access_changed', userId })
    }),
})
export type OAuthClientService = ReturnType<typeof createOAuthClientService>
