import type { Rows, Transaction } from '../lib/db/client.ts'
import { type IdPage, idPageQuery } from '../lib/http/id-paging.ts'
import { mapFound } from '../lib/kernel/missing.ts'
import { readAttachedToolId } from './attached-tool.ts'
import type { Limit, LimitScope } from './limit.ts'

const toLimit = ({ targetId, amount, ...row }: Rows.Limit): Limit => ({
  ...row,
  targetId: targetId ?? undefined,
  amount: Number(amount),
})

export type NewLimit = Pick<Limit, 'organizationId' | 'scope' | 'targetId' | 'unit' | 'period' | 'amount'>

export const createLimit = async (
  tx: Transaction,
  { targetId, amount, ...limit }: NewLimit,
  createdById: string,
): Promise<Limit> =>
  toLimit(
    await tx.limit.create({ data: { ...limit, targetId: targetId ?? null, amount: BigInt(amount), createdById } }),
  )

/** Returns the limit that counts the same uses within the same period. */
export const findSameLimit = async (
  tx: Transaction,
  { organizationId, scope, targetId, unit, period }: NewLimit,
): Promise<Limit | undefined> =>
  mapFound(
    await tx.limit.findFirst({ where: { organizationId, scope, targetId: targetId ?? null, unit, period } }),
    toLimit,
  )

export const findLimit = async (tx: Transaction, organizationId: string, id: string): Promise<Limit | undefined> =>
  mapFound(await tx.limit.findFirst({ where: { id, organizationId } }), toLimit)

export const listLimits = async (tx: Transaction, organizationId: string, page: IdPage): Promise<Limit[]> =>
  (await tx.limit.findMany(idPageQuery(page, { organizationId }))).map(toLimit)

export const countLimits = (tx: Transaction, organizationId: string): Promise<number> =>
  tx.limit.count({ where: { organizationId } })

export const updateAmount = async (tx: Transaction, organizationId: string, id: string, amount: number) => {
  await tx.limit.updateMany({ where: { id, organizationId }, data: { amount: BigInt(amount) } })
}

export const removeLimit = async (tx: Transaction, organizationId: string, id: string): Promise<void> => {
  await tx.limit.deleteMany({ where: { id, organizationId } })
}

/** Lists the limits of one organization, or of all. */
export const listLimitsInForce = async (tx: Transaction, organizationId?: string): Promise<Limit[]> =>
  (await tx.limit.findMany({ where: organizationId === undefined ? {} : { organizationId } })).map(toLimit)

type Named = { id: string; name: string }

/** Lists tools by the ids that `toAttachedToolId` makes. Nobody checks whether the MCP server still has them. */
const listAttachedTools = async (tx: Transaction, organizationId: string, ids: readonly string[]): Promise<Named[]> => {
  const read = ids.flatMap(id => {
    const tool = readAttachedToolId(id)
    return tool === undefined ? [] : [{ id, ...tool }]
  })
  if (read.length === 0) return []
  const where = { id: { in: read.map(({ upstreamId }) => upstreamId) }, server: { organizationId } }
  const upstreams = await tx.upstream.findMany({ where, select: { id: true, name: true } })
  const names = new Map(upstreams.map(({ id, name }) => [id, name]))
  return read.flatMap(({ id, upstreamId, name }) => {
    const upstream = names.get(upstreamId)
    return upstream === undefined ? [] : [{ id, name: `${upstream}/${name}` }]
  })
}

/** Lists the organization's servers, tools, members or members' access tokens with these ids, with their names. */
export const listTargets = async (
  tx: Transaction,
  organizationId: string,
  scope: LimitScope,
  ids: readonly string[],
): Promise<Named[]> => {
  if (ids.length === 0) return []
  const id = { in: [...ids] }
  const select = { id: true, name: true }
  switch (scope) {
    case 'organization':
      return []
    case 'server':
      return tx.server.findMany({ where: { id, organizationId, removedAt: null }, select })
    case 'tool':
      return [
        ...(await tx.tool.findMany({ where: { id, toolkit: { organizationId } }, select })),
        ...(await listAttachedTools(tx, organizationId, ids)),
      ]
    case 'user': {
      const where = { id, memberships: { some: { organizationId } } }
      const users = await tx.user.findMany({ where, select: { id: true, email: true } })
      return users.map(user => ({ id: user.id, name: user.email }))
    }
    case 'token':
      return tx.accessToken.findMany({ where: { id, user: { memberships: { some: { organizationId } } } }, select })
  }
}
