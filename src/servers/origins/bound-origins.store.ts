import type { Database, Transaction } from '../../lib/db/client.ts'

/** Maximum number of origins noted for one key and user. A secret cannot have more. */
export const MAX_ORIGINS = 100

/** Notes that a user bound these keys, which are not secrets, to these origins. */
export const noteBoundOrigins = async (
  tx: Transaction,
  by: { serverId: string; userId: string },
  bound: ReadonlyMap<string, ReadonlySet<string>>,
): Promise<void> => {
  if (bound.size === 0) return
  const noted = await tx.boundOrigin.findMany({
    where: { ...by, key: { in: [...bound.keys()] } },
    select: { key: true, origin: true },
  })
  const data = [...bound].flatMap(([key, origins]) => {
    const known = new Set(noted.flatMap(one => (one.key === key ? one.origin : [])))
    const added = [...origins].filter(origin => !known.has(origin)).slice(0, Math.max(0, MAX_ORIGINS - known.size))
    return added.map(origin => ({ ...by, key, origin }))
  })
  if (data.length > 0) await tx.boundOrigin.createMany({ data })
}

export const listBoundOrigins = (
  db: Database | Transaction,
  serverId: string,
  key: string,
): Promise<{ userId: string; origin: string }[]> =>
  db.boundOrigin.findMany({ where: { serverId, key }, select: { userId: true, origin: true } })

export const forgetBoundOrigins = async (tx: Transaction, serverId: string, key: string): Promise<void> => {
  await tx.boundOrigin.deleteMany({ where: { serverId, key } })
}
