import { z } from 'zod'
import type { Rows, Transaction } from '../../lib/db/client.ts'
import { type IdPage, idPageQuery } from '../../lib/http/id-paging.ts'
import type { JsonObject } from '../../lib/kernel/json.ts'
import { mapFound } from '../../lib/kernel/missing.ts'
import { AUTH_METHODS, type OAuthClient } from './oauth-client.ts'

const Metadata = z.object({
  client_name: z.string().default(''),
  redirect_uris: z.array(z.string()),
  token_endpoint_auth_method: z.enum(AUTH_METHODS),
})

/** Converts a row to a client. Returns an empty array for a client that registered itself. */
const toClients = ({ organizationId, metadata, secret: _, ...row }: Rows.OAuthClient): OAuthClient[] => {
  if (organizationId === null) return []
  const { client_name, redirect_uris, token_endpoint_auth_method } = Metadata.parse(metadata)
  const named = { name: client_name, redirectUris: redirect_uris, tokenEndpointAuthMethod: token_endpoint_auth_method }
  return [{ ...row, organizationId, ...named }]
}

export const countClients = (tx: Transaction, organizationId: string): Promise<number> =>
  tx.oAuthClient.count({ where: { organizationId } })

export const listClients = async (tx: Transaction, organizationId: string, page: IdPage): Promise<OAuthClient[]> =>
  (await tx.oAuthClient.findMany(idPageQuery(page, { organizationId }))).flatMap(toClients)

export const findClient = async (
  tx: Transaction,
  id: string,
  organizationIds: readonly string[],
): Promise<OAuthClient | undefined> =>
  mapFound(
    await tx.oAuthClient.findFirst({ where: { id, organizationId: { in: [...organizationIds] } } }),
    row => toClients(row)[0],
  )

export const updateClientMetadata = async (tx: Transaction, id: string, metadata: JsonObject): Promise<void> => {
  await tx.oAuthClient.update({ where: { id }, data: { metadata } })
}

/** Removes all grants, codes and tokens of these clients. Returns the users who had grants. */
const revokeAllOf = async (tx: Transaction, clientIds: readonly string[]): Promise<readonly string[]> => {
  const where = { clientId: { in: [...clientIds] } }
  const isGrant = { ...where, kind: 'Grant', userId: { not: null } }
  const grants = await tx.oAuthArtifact.findMany({ where: isGrant, select: { userId: true } })
  await tx.oAuthArtifact.deleteMany({ where })
  return grants.flatMap(({ userId }) => userId ?? [])
}

/**
 * Removes a client with its grants, codes and tokens. Returns the users who had grants; the caller
 * must announce `access_changed` for them.
 */
export const removeClient = async (
  tx: Transaction,
  { id, clientId }: Pick<OAuthClient, 'id' | 'clientId'>,
): Promise<readonly string[]> => {
  const userIds = await revokeAllOf(tx, [clientId])
  await tx.oAuthClient.delete({ where: { id } })
  return userIds
}

/**
 * Removes all grants, codes and tokens of an organization's clients, before the clients are deleted
 * with the organization. Returns users like `removeClient`.
 */
export const endClientsOf = async (tx: Transaction, organizationId: string): Promise<readonly string[]> => {
  const clients = await tx.oAuthClient.findMany({ where: { organizationId }, select: { clientId: true } })
  return revokeAllOf(
    tx,
    clients.map(({ clientId }) => clientId),
  )
}
