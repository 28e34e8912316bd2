import { randomBytes, randomUUID } from 'node:crypto'
import {
  type Actor,
  AppError,
  assertMay,
  type FieldError,
  type JsonObject,
  organizationIdsOf,
} from '../kernel/index.ts'
import { writeAudit } from '../platform/audit/index.ts'
import type { Database, Transaction } from '../platform/db/index.ts'
import type { Changes } from '../platform/events/index.ts'
import type { IdPage } from '../platform/http/index.ts'
import type { Sealing } from '../platform/sealing.ts'
import { sealClientSecret } from './client-secrets.ts'
import type { AuthMethod, OAuthClient } from './oauth-client.ts'
import * as store from './oauth-clients.store.ts'
import { checkRedirectUri } from './redirects.ts'
import { normaliseRegistration } from './registration.ts'

const SECRET_BYTES = 32
/** Of one organization: clients that register themselves need none of these. */
const MAX_CLIENTS = 100

export type OAuthClientInput = { name: string; redirectUris: readonly string[]; tokenEndpointAuthMethod: AuthMethod }
export type OAuthClientChanges = { name?: string | undefined; redirectUris?: readonly string[] | undefined }

/** One just made: the only time that its secret is seen. */
export type NewClient = OAuthClient & { clientSecret: string | undefined }

const invalidRedirects = (errors: readonly FieldError[]): AppError =>
  new AppError('invalid_request', 'Answers cannot be sent to all of these addresses.', { errors })

/** As it would be kept had it registered itself: the same rules hold. */
const toMetadata = ({ name, redirectUris, tokenEndpointAuthMethod }: OAuthClientInput): JsonObject => {
  const errors = redirectUris.flatMap((uri, index) => {
    const checked = checkRedirectUri(uri)
    return checked.ok ? [] : [{ path: `redirectUris[${index}]`, message: checked.error }]
  })
  if (errors.length > 0) throw invalidRedirects(errors)
  const normal = normaliseRegistration({
    client_name: name,
    redirect_uris: redirectUris,
    token_endpoint_auth_method: tokenEndpointAuthMethod,
  })
  if (!normal.ok) throw invalidRedirects([{ path: 'redirectUris', message: normal.error.description }])
  return normal.value
}

const getClientFor = async (tx: Transaction, actor: Actor, id: string): Promise<OAuthClient> => {
  const client = await store.findClient(tx, id, organizationIdsOf(actor))
  if (client === undefined) throw new AppError('not_found', 'There is no such client.')
  assertMay(actor, client.organizationId, 'manage')
  return client
}

const targetOf = ({ id, name }: OAuthClient) => ({ type: 'oauth_client', id, name })

/** What of it differs, for the audit log. */
const differenceOf = (before: OAuthClient, after: OAuthClient): JsonObject => ({
  ...(before.name !== after.name && { name: { from: before.name, to: after.name } }),
  ...(before.redirectUris.join(' ') !== after.redirectUris.join(' ') && {
    redirectUris: { from: [...before.redirectUris], to: [...after.redirectUris] },
  }),
})

export type OAuthClientServiceParts = { db: Database; changes: Changes; sealing: Sealing }

/** Clients that an organization registers by hand; for those who manage it. */
export const createOAuthClientService = ({ db, changes, sealing }: OAuthClientServiceParts) => ({
  createClient: (actor: Actor, organizationId: string, input: OAuthClientInput): Promise<NewClient> => {
    assertMay(actor, organizationId, 'manage')
    const metadata = toMetadata(input)
    const isPublic = input.tokenEndpointAuthMethod === 'none'
    const clientSecret = isPublic ? undefined : randomBytes(SECRET_BYTES).toString('base64url')
    return changes.commit(async tx => {
      if ((await store.countClients(tx, organizationId)) >= MAX_CLIENTS) {
        throw new AppError('limit_exceeded', `An organization has at most ${MAX_CLIENTS} clients registered by hand.`)
      }
      const owner = { organizationId, clientId: randomUUID() }
      const sealed = clientSecret === undefined ? undefined : sealClientSecret(sealing, owner, clientSecret)
      const { id } = await store.createClient(tx, { ...owner, metadata, sealed })
      const client = await getClientFor(tx, actor, id)
      await writeAudit(tx, {
        action: 'oauth_client.created',
        actor,
        organizationId,
        target: targetOf(client),
        change: { clientId: client.clientId, redirectUris: [...client.redirectUris] },
      })
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
        tokenEndpointAuthMethod: before.authMethod,
      })
      await store.updateClientMetadata(tx, id, metadata)
      const after = await getClientFor(tx, actor, id)
      await writeAudit(tx, {
        action: 'oauth_client.changed',
        actor,
        organizationId: after.organizationId,
        target: targetOf(after),
        change: differenceOf(before, after),
      })
      return after
    }),

  /** It can do nothing in anybody's name from then on. */
  removeClient: (actor: Actor, id: string): Promise<void> =>
    changes.commit(async (tx, announce) => {
      const client = await getClientFor(tx, actor, id)
      const userIds = await store.removeClient(tx, client)
      await writeAudit(tx, {
        action: 'oauth_client.removed',
        actor,
        organizationId: client.organizationId,
        target: targetOf(client),
        change: { clientId: client.clientId, endedGrants: userIds.length },
      })
      for (const userId of userIds) announce({ type: 'access_changed', userId })
    }),
})
export type OAuthClientService = ReturnType<typeof createOAuthClientService>
