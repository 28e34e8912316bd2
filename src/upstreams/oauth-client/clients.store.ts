import type { Transaction } from '../../lib/db/client.ts'
import type { Sealed } from '../../lib/process/sealing.ts'

/** Who Patchbay is to the authorization server of an upstream. */
export type StoredClient = {
  /** The authorization server that registered it; undefined: the builder brought it. */
  issuer: string | undefined
  sealed: Sealed
  updatedAt: Date
}

export const findClient = async (tx: Transaction, upstreamId: string): Promise<StoredClient | undefined> => {
  const row = await tx.upstreamClient.findUnique({ where: { upstreamId } })
  if (row === null) return undefined
  return { issuer: row.issuer ?? undefined, sealed: { text: row.content, keyId: row.keyId }, updatedAt: row.updatedAt }
}

/** When the secrets that builders brought were set, by upstream. */
export const listSecretTimes = async (
  tx: Transaction,
  upstreamIds: readonly string[],
): Promise<ReadonlyMap<string, Date>> => {
  const rows = await tx.upstreamClient.findMany({ where: { upstreamId: { in: [...upstreamIds] }, issuer: null } })
  return new Map(rows.map(({ upstreamId, updatedAt }) => [upstreamId, updatedAt]))
}

export const putClient = async (
  tx: Transaction,
  upstreamId: string,
  { issuer, sealed }: Omit<StoredClient, 'updatedAt'>,
): Promise<void> => {
  const data = { issuer: issuer ?? null, content: sealed.text, keyId: sealed.keyId }
  await tx.upstreamClient.upsert({ where: { upstreamId }, create: { upstreamId, ...data }, update: data })
}

/** In place of what was sealed; answers whether it still was that. Of the builder's own it is not known as set anew. */
export const reseal = async (
  tx: Transaction,
  upstreamId: string,
  { sealed: before, updatedAt }: Pick<StoredClient, 'sealed' | 'updatedAt'>,
  { text, keyId }: Sealed,
): Promise<boolean> => {
  const { count } = await tx.upstreamClient.updateMany({
    where: { upstreamId, content: before.text },
    data: { content: text, keyId, updatedAt },
  })
  return count > 0
}

export const removeClient = async (tx: Transaction, upstreamId: string): Promise<void> => {
  await tx.upstreamClient.deleteMany({ where: { upstreamId } })
}

/** Ids of the master keys that sealed something of upstreams: none of them may be dropped. */
export const listUpstreamSealingKeyIds = async (tx: Transaction): Promise<string[]> => {
  const [clients, accounts] = await Promise.all([
    tx.upstreamClient.groupBy({ by: ['keyId'] }),
    tx.upstreamAccount.groupBy({ by: ['keyId'] }),
  ])
  return [...clients, ...accounts].map(({ keyId }) => keyId)
}
