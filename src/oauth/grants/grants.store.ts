import { z } from 'zod'
import { NOTE_USE_EVERY_MS } from '../../identity/tokens/token-verifier.ts'
import type { Rows, Transaction } from '../../lib/db/client.ts'
import { type IdPage, idPageQuery } from '../../lib/http/id-paging.ts'
import { MCP_SCOPES, type McpScope } from '../../lib/kernel/mcp-scopes.ts'
import { withoutNulls } from '../../lib/kernel/missing.ts'
import { type AccessPolicy, policyOf } from '../../servers/access/access.ts'
import { type ServerRow, toServer, WITH_USERS } from '../../servers/servers.store.ts'

/**
 * A user's permission for a client to use a server on the user's behalf. It ends, together with its tokens, when it is
 * revoked.
 */
export type Grant = {
  id: string
  userId: string
  userEmail: string
  /** `name` is the name that the client gave itself, or the host of its metadata document. */
  client: { id: string; name: string }
  server: { name: string; policy: AccessPolicy }
  scopes: readonly McpScope[]
  lastUsedAt: Date | undefined
  expiresAt: Date | undefined
  createdAt: Date
  updatedAt: Date
}

const KIND = 'Grant'

/** The scopes of a grant as stored, by resource. */
const Payload = z.object({ resources: z.record(z.string(), z.string()) })

const WITH_NAMES = { user: { select: { email: true } }, server: { include: WITH_USERS } } as const

type GrantRow = Rows.OAuthArtifact & { user: { email: string } | null; server: ServerRow | null }

const toScopes = (payload: unknown): McpScope[] => {
  const { resources = {} } = Payload.safeParse(payload).data ?? {}
  const agreed = Object.values(resources).flatMap(text => text.split(' '))
  return MCP_SCOPES.filter(scope => agreed.includes(scope))
}

const Metadata = z.object({ client_name: z.string() })

const readClientNames = async (tx: Transaction, clientIds: readonly string[]): Promise<ReadonlyMap<string, string>> => {
  const rows = await tx.oAuthClient.findMany({
    where: { clientId: { in: [...new Set(clientIds)] } },
    select: { clientId: true, metadata: true },
  })
  return new Map(rows.map(row => [row.clientId, Metadata.safeParse(row.metadata).data?.client_name ?? row.clientId]))
}

const toGrants = async (tx: Transaction, rows: readonly GrantRow[]): Promise<Grant[]> => {
  const clientIds = rows.flatMap(({ clientId }) => clientId ?? [])
  const names = await readClientNames(tx, clientIds)
  const nameOf = (id: string): string => names.get(id) ?? URL.parse(id)?.host ?? id
  return rows.flatMap(row => {
    const { userId, user, clientId, server, payload, id, lastUsedAt, expiresAt, createdAt, updatedAt } = row
    if (userId === null || user === null || clientId === null || server === null) return []
    return {
      ...withoutNulls({ id, lastUsedAt, expiresAt, createdAt, updatedAt }),
      userId,
      userEmail: user.email,
      client: { id: clientId, name: nameOf(clientId) },
      server: { name: server.name, policy: policyOf(toServer(server)) },
      scopes: toScopes(payload),
    }
  })
}

/** Grants for this server, by this user, or both. */
export type GrantFilter = { serverId: string; userId?: string | undefined } | { serverId?: undefined; userId: string }

/** Lists valid grants. */
export const listGrants = async (
  tx: Transaction,
  { serverId, userId }: GrantFilter,
  page: IdPage,
): Promise<Grant[]> => {
  const isInForce = {
    OR: [{ expiresAt: null }, { expiresAt: { gt: new Date() } }],
    server: { is: { removedAt: null } },
  }
  const isWhole = { userId: userId ?? { not: null }, clientId: { not: null } }
  const ofServer = serverId === undefined ? {} : { serverId }
  const rows = await tx.oAuthArtifact.findMany({
    ...idPageQuery(page, { kind: KIND, ...isWhole, ...isInForce, ...ofServer }),
    include: WITH_NAMES,
  })
  return toGrants(tx, rows)
}

/** Finds a grant that this user gave, or that is for a server of one of these organizations. */
export const findGrant = async (
  tx: Transaction,
  id: string,
  { userId, organizationIds }: { userId: string; organizationIds: readonly string[] },
): Promise<Grant | undefined> => {
  const isOfOrganization = { server: { is: { organizationId: { in: [...organizationIds] } } } }
  const row = await tx.oAuthArtifact.findFirst({
    where: { id, kind: KIND, OR: [{ userId }, isOfOrganization] },
    include: WITH_NAMES,
  })
  return row === null ? undefined : (await toGrants(tx, [row]))[0]
}

/** Records that a grant was used. Does nothing if the grant has been removed, or if a use was recorded recently. */
export const noteGrantUse = async (tx: Transaction, id: string, usedAt: Date): Promise<void> => {
  const before = new Date(usedAt.getTime() - NOTE_USE_EVERY_MS)
  await tx.oAuthArtifact.updateMany({
    where: { id, kind: KIND, OR: [{ lastUsedAt: null }, { lastUsedAt: { lte: before } }] },
    data: { lastUsedAt: usedAt },
  })
}
