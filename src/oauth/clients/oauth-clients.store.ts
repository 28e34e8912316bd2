import { z } from 'zod'
import type { JsonObject } from '../kernel/index.ts'
import type { Transaction } from '../platform/db/index.ts'
import { type IdPage, idPageQuery } from '../platform/http/index.ts'
import type { Sealed } from '../platform/sealing.ts'
import { AUTH_METHODS, type OAuthClient } from './oauth-client.ts'

const Metadata = z.object({
  client_name: z.string().default(''),
  redirect_uris: z.array(z.string()),
  token_endpoint_auth_method: z.enum(AUTH_METHODS),
})

type ClientRow = {
  id: string
  organizationId: string | null
  clientId: string
  metadata: unknown
  createdAt: Date
  updatedAt: Date
}

const toClients = ({ id, organizationId, clientId, metadata, createdAt, updatedAt }: ClientRow): OAuthClient[] => {
  if (organizationId === null) return []
  const { client_name, redirect_uris, token_endpoint_auth_method } = Metadata.parse(metadata)
  return [
    {
      id,
      organizationId,
      clientId,
      name: client_name,
      redirectUris: redirect_uris,
      authMethod: token_endpoint_auth_method,
      createdAt,
      updatedAt,
    },
  ]
}

export type NewOAuthClient = {
  organizationId: string
  clientId: string
  /** As RFC 7591 names its members; without the secret. */
  metadata: JsonObject
  sealed: Sealed | undefined
}

export const createClient = async (
  tx: Transaction,
  { organizationId, clientId, metadata, sealed }: NewOAuthClient,
): Promise<{ id: string }> => {
  const secret = sealed === undefined ? {} : { secret: sealed.text, keyId: sealed.keyId }
  const data = { organizationId, clientId, metadata, ...secret }
  return tx.oAuthClient.create({ data, select: { id: true } })
}

export const countClients = (tx: Transaction, organizationId: string): Promise<number> =>
  tx.oAuthClient.count({ where: { organizationId } })

export const listClients = async (tx: Transaction, organizationId: string, page: IdPage): Promise<OAuthClient[]> => {
  const { where, ...rest } = idPageQuery(page)
  return (await tx.oAuthClient.findMany({ where: { organizationId, ...where }, ...rest })).flatMap(toClients)
}

export const findClient = async (
  tx: Transaction,
  id: string,
  organizationIds: readonly string[],
): Promise<OAuthClient | undefined> => {
  const row = await tx.oAuthClient.findFirst({ where: { id, organizationId: { in: [...organizationIds] } } })
  return row === null ? undefined : toClients(row)[0]
}

export const updateClientMetadata = async (tx: Transaction, id: string, metadata: JsonObject): Promise<void> => {
  await tx.oAuthClient.update({ where: { id }, data: { metadata } })
}

/** Every grant, code and token that names one of the clients goes. Answers whose grants there were. */
const endAllOf = async (tx: Transaction, clientIds: readonly string[]): Promise<readonly string[]> => {
  const where = { clientId: { in: [...clientIds] } }
  const isGrant = { ...where, kind: 'Grant', userId: { not: null } }
  const grants = await tx.oAuthArtifact.findMany({ where: isGrant, select: { userId: true } })
  await tx.oAuthArtifact.deleteMany({ where })
  return grants.flatMap(({ userId }) => userId ?? [])
}

/** With all that it may do. Answers the users who had let it act in their name, to be followed by `access_changed`. */
export const removeClient = async (
  tx: Transaction,
  { id, clientId }: Pick<OAuthClient, 'id' | 'clientId'>,
): Promise<readonly string[]> => {
  const userIds = await endAllOf(tx, [clientId])
  await tx.oAuthClient.delete({ where: { id } })
  return userIds
}

/** Ends all that the clients of an organization may do, before they go with it. Answers the users as `removeClient`. */
export const endClientsOf = async (tx: Transaction, organizationId: string): Promise<readonly string[]> => {
  const clients = await tx.oAuthClient.findMany({ where: { organizationId }, select: { clientId: true } })
  return endAllOf(
    tx,
    clients.map(({ clientId }) => clientId),
  )
}
