import type { Rows, Transaction } from '../../lib/db/client.ts'
import { mapFound } from '../../lib/kernel/missing.ts'
import type { Sealed } from '../../lib/process/sealing.ts'

/** Patchbay's registration at an upstream's authorization server. */
export type StoredClient = {
  /** The authorization server that issued the registration. Undefined if the builder entered it. */
  issuer: string | undefined
  sealed: Sealed
  updatedAt: Date
}

const toClient = ({ issuer, content, keyId, updatedAt }: Rows.UpstreamClient): StoredClient => ({
  issuer: issuer ?? undefined,
  sealed: { text: content, keyId },
  updatedAt,
})

export const findClient = async (tx: Transaction, upstreamId: string): Promise<StoredClient | undefined> =>
  mapFound(await tx.upstreamClient.findUnique({ where: { upstreamId } }), toClient)

/** Returns the clients that builders entered, keyed by upstream. */
export const listConfiguredClients = async (
  tx: Transaction,
  upstreamIds: readonly string[],
): Promise<ReadonlyMap<string, StoredClient>> => {
  const rows = await tx.upstreamClient.findMany({ where: { upstreamId: { in: [...upstreamIds] }, issuer: null } })
  return new Map(rows.map(row => [row.upstreamId, toClient(row)]))
}

export const putClient = async (
  tx: Transaction,
  upstreamId: string,
  { issuer, sealed }: Omit<StoredClient, 'updatedAt'>,
): Promise<void> => {
  const data = { issuer: issuer ?? null, content: sealed.text, keyId: sealed.keyId }
  await tx.upstreamClient.upsert({ where: { upstreamId }, create: { upstreamId, ...data }, update: data })
}

/**
 * Replaces the sealed client if it is unchanged and returns whether it was. Does not change `updatedAt`, which shows
 * when the secret was entered.
 */
export const replaceSealed = async (
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

/** Returns the ids of the master keys that are still needed to open upstream clients and accounts. */
export const listUpstreamSealingKeyIds = async (tx: Transaction): Promise<string[]> => {
  const [clients, accounts] = await Promise.all([
    tx.upstreamClient.groupBy({ by: ['keyId'] }),
    tx.upstreamAccount.groupBy({ by: ['keyId'] }),
  ])
  return [...clients, ...accounts].map(({ keyId }) => keyId)
}
