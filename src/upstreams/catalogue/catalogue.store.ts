import { sqltag as sql } from '@prisma/client/runtime/client'
import { z } from 'zod'
import type { Transaction } from '../../lib/db/client.ts'
import type { Upstream } from '../upstream.ts'
import { Catalogue, type KeptCatalogue, sourceOf } from './catalogue.ts'

/** By upstream, what is kept of each: without the content, which may be large. */
export const listCatalogueHashes = async (
  tx: Transaction,
  upstreamIds: readonly string[],
): Promise<ReadonlyMap<string, { source: string; hash: string }>> => {
  const rows = await tx.upstreamCatalogue.findMany({
    where: { upstreamId: { in: [...upstreamIds] } },
    select: { upstreamId: true, source: true, hash: true },
  })
  return new Map(rows.map(({ upstreamId, ...row }) => [upstreamId, row]))
}

const Sum = z.tuple([z.object({ chars: z.coerce.number() })])

/** Characters that are kept of the other upstreams of its server. */
export const sumOtherCatalogues = async (
  tx: Transaction,
  { id, serverId }: Pick<Upstream, 'id' | 'serverId'>,
): Promise<number> => {
  const rows = await tx.$queryRaw(sql`
    SELECT COALESCE(SUM(LENGTH("content")), 0) AS "chars" FROM "UpstreamCatalogue"
    WHERE "upstreamId" <> ${id} AND "upstreamId" IN (SELECT "id" FROM "Upstream" WHERE "serverId" = ${serverId})`)
  return Sum.parse(rows)[0].chars
}

/** Undefined where there is none, or one that another version of Patchbay wrote and this one cannot read. */
export const findCatalogue = async (tx: Transaction, upstreamId: string): Promise<KeptCatalogue | undefined> => {
  const row = await tx.upstreamCatalogue.findUnique({ where: { upstreamId } })
  if (row === null) return undefined
  const { source, hash, content, fetchedAt } = row
  const parsed = Catalogue.safeParse(JSON.parse(content))
  return parsed.success ? { source, hash, catalogue: parsed.data, fetchedAt } : undefined
}

/** Of the upstream as it is configured now. */
export const findKeptCatalogue = async (tx: Transaction, upstream: Upstream): Promise<KeptCatalogue | undefined> => {
  const kept = await findCatalogue(tx, upstream.id)
  return kept?.source === sourceOf(upstream) ? kept : undefined
}

/** Writes it in place of the one before; answers whether the upstream is still there to have one. */
export const keepCatalogue = async (tx: Transaction, upstreamId: string, kept: KeptCatalogue): Promise<boolean> => {
  const isThere = (await tx.upstream.count({ where: { id: upstreamId, server: { removedAt: null } } })) > 0
  if (!isThere) return false
  const { source, hash, catalogue, fetchedAt } = kept
  const data = { source, hash, content: JSON.stringify(catalogue), fetchedAt }
  await tx.upstreamCatalogue.upsert({ where: { upstreamId }, create: { upstreamId, ...data }, update: data })
  return true
}

/** It was asked for again and is what it was. */
export const touchCatalogue = async (tx: Transaction, upstreamId: string, fetchedAt: Date): Promise<void> => {
  await tx.upstreamCatalogue.updateMany({ where: { upstreamId }, data: { fetchedAt } })
}
