import { sqltag as sql } from '@prisma/client/runtime/client'
import { z } from 'zod'
import type { Transaction } from '../../lib/db/client.ts'
import type { Upstream } from '../upstream.ts'
import { Catalogue, type StoredCatalogue, sourceOf } from './catalogue.ts'

/** Returns the hash of each upstream's catalogue without reading the content, which may be large. */
export const listCatalogueHashes = async (
  tx: Transaction,
  upstreamIds: readonly string[],
): Promise<ReadonlyMap<string, string>> => {
  const rows = await tx.upstreamCatalogue.findMany({
    where: { upstreamId: { in: [...upstreamIds] } },
    select: { upstreamId: true, hash: true },
  })
  return new Map(rows.map(({ upstreamId, hash }) => [upstreamId, hash]))
}

const Sum = z.tuple([z.object({ chars: z.coerce.number() })])

/** Returns the total size of the catalogues of the server's other upstreams, in characters. */
export const sumOtherCatalogues = async (
  tx: Transaction,
  { id, serverId }: Pick<Upstream, 'id' | 'serverId'>,
): Promise<number> => {
  const rows = await tx.$queryRaw(sql`
    SELECT COALESCE(SUM(LENGTH("content")), 0) AS "chars" FROM "UpstreamCatalogue"
    WHERE "upstreamId" <> ${id} AND "upstreamId" IN (SELECT "id" FROM "Upstream" WHERE "serverId" = ${serverId})`)
  return Sum.parse(rows)[0].chars
}

/** Returns undefined if no catalogue is stored, or if another version of Patchbay stored it in a different format. */
export const findCatalogue = async (tx: Transaction, upstreamId: string): Promise<StoredCatalogue | undefined> => {
  const row = await tx.upstreamCatalogue.findUnique({ where: { upstreamId } })
  if (row === null) return undefined
  const { source, hash, content, fetchedAt } = row
  const parsed = Catalogue.safeParse(JSON.parse(content))
  return parsed.success ? { source, hash, catalogue: parsed.data, fetchedAt } : undefined
}

/** Returns undefined if the stored catalogue was fetched with another configuration of the upstream. */
export const findCurrentCatalogue = async (
  tx: Transaction,
  upstream: Upstream,
): Promise<StoredCatalogue | undefined> => {
  const stored = await findCatalogue(tx, upstream.id)
  return stored?.source === sourceOf(upstream) ? stored : undefined
}

/** Returns false if the upstream no longer exists. */
export const saveCatalogue = async (tx: Transaction, upstreamId: string, stored: StoredCatalogue): Promise<boolean> => {
  const isThere = (await tx.upstream.count({ where: { id: upstreamId, server: { removedAt: null } } })) > 0
  if (!isThere) return false
  const { source, hash, catalogue, fetchedAt } = stored
  const data = { source, hash, content: JSON.stringify(catalogue), fetchedAt }
  await tx.upstreamCatalogue.upsert({ where: { upstreamId }, create: { upstreamId, ...data }, update: data })
  return true
}

/** Records a fetch that found no change. */
export const touchCatalogue = async (tx: Transaction, upstreamId: string, fetchedAt: Date): Promise<void> => {
  await tx.upstreamCatalogue.updateMany({ where: { upstreamId }, data: { fetchedAt } })
}
