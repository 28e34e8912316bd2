import type { Transaction } from '../lib/db/client.ts'
import { mapFound } from '../lib/kernel/missing.ts'
import { type AccessPolicy, policyOf } from '../servers/access/access.ts'
import { toServer, WITH_USERS } from '../servers/servers.store.ts'

/** The parts of a server that the consent page and grants need. */
export type ResourceServer = { id: string; name: string; organizationName: string; policy: AccessPolicy }

/** Finds a server of any organization. The server's tier determines who may use it. */
export const findResourceServer = async (tx: Transaction, id: string): Promise<ResourceServer | undefined> => {
  const include = { organization: { select: { name: true } }, ...WITH_USERS } as const
  return mapFound(await tx.server.findFirst({ where: { id, removedAt: null }, include }), row => ({
    id: row.id,
    name: row.name,
    organizationName: row.organization.name,
    policy: policyOf(toServer(row)),
  }))
}

export const isServer = async (tx: Transaction, id: string): Promise<boolean> =>
  (await tx.server.count({ where: { id, removedAt: null } })) > 0

export const isUser = async (tx: Transaction, id: string): Promise<boolean> =>
  (await tx.user.count({ where: { id } })) > 0
