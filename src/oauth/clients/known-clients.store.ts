import type { Transaction } from '../../lib/db/client.ts'
import type { JsonObject } from '../../lib/kernel/json.ts'
import type { Sealed } from '../../lib/process/sealing.ts'

/** A registered client. `metadata` uses RFC 7591's member names. */
export type KnownClient = {
  clientId: string
  /** Undefined if the client registered itself. */
  organizationId: string | undefined
  metadata: unknown
  sealed: Sealed | undefined
}

/** Uses RFC 7591's member names and does not contain the secret. */
type NewClient = Pick<KnownClient, 'clientId' | 'sealed'> & { organizationId?: string | null; metadata: JsonObject }

/** Minimum interval between two writes of a client's last use. */
const NOTE_EVERY_MS = 60 * 60 * 1_000

export const findKnownClient = async (tx: Transaction, clientId: string): Promise<KnownClient | undefined> => {
  const row = await tx.oAuthClient.findUnique({ where: { clientId } })
  if (row === null) return undefined
  const { organizationId, metadata, secret, keyId } = row
  const sealed = secret === null ? undefined : { text: secret, keyId: keyId ?? '' }
  return { clientId, organizationId: organizationId ?? undefined, metadata, sealed }
}

export const createClient = (
  tx: Transaction,
  { organizationId = null, clientId, metadata, sealed }: NewClient,
): Promise<{ id: string }> => {
  const secret = sealed && { secret: sealed.text, keyId: sealed.keyId }
  return tx.oAuthClient.create({ data: { organizationId, clientId, metadata, ...secret }, select: { id: true } })
}

/** Records that a self-registered client was used, so that it is not removed as idle. */
export const noteClientUse = async (tx: Transaction, clientId: string): Promise<void> => {
  const at = new Date()
  const before = new Date(at.getTime() - NOTE_EVERY_MS)
  const where = { clientId, organizationId: null, OR: [{ lastUsedAt: null }, { lastUsedAt: { lt: before } }] }
  await tx.oAuthClient.updateMany({ where, data: { lastUsedAt: at } })
}

/** Lists the ids of the master keys with which client secrets are sealed. */
export const listClientSealingKeyIds = async (tx: Transaction): Promise<string[]> => {
  const rows = await tx.oAuthClient.groupBy({ by: ['keyId'], where: { secret: { not: null } } })
  return rows.flatMap(({ keyId }) => keyId ?? [])
}
