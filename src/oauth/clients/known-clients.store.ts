import type { JsonObject } from '../kernel/index.ts'
import type { Transaction } from '../platform/db/index.ts'
import type { Sealed } from '../platform/sealing.ts'

/** A client that was registered, by itself or by hand; `metadata` names its members as RFC 7591 does. */
export type KnownClient = {
  clientId: string
  /** Undefined: it registered itself. */
  organizationId: string | undefined
  metadata: unknown
  sealed: Sealed | undefined
}

/** How often the use of a client is written down. */
const NOTE_EVERY_MS = 60 * 60 * 1_000

export const findKnownClient = async (tx: Transaction, clientId: string): Promise<KnownClient | undefined> => {
  const row = await tx.oAuthClient.findUnique({ where: { clientId } })
  if (row === null) return undefined
  const { organizationId, metadata, secret, keyId } = row
  const sealed = secret === null ? undefined : { text: secret, keyId: keyId ?? '' }
  return { clientId, organizationId: organizationId ?? undefined, metadata, sealed }
}

export const createSelfRegisteredClient = async (
  tx: Transaction,
  clientId: string,
  metadata: JsonObject,
  sealed: Sealed | undefined,
): Promise<void> => {
  const secret = sealed === undefined ? {} : { secret: sealed.text, keyId: sealed.keyId }
  await tx.oAuthClient.create({ data: { clientId, metadata, ...secret } })
}

/** Of a client that registered itself: it is in use, and stays. */
export const noteClientUse = async (tx: Transaction, clientId: string, at: Date): Promise<void> => {
  const before = new Date(at.getTime() - NOTE_EVERY_MS)
  const where = { clientId, organizationId: null, OR: [{ lastUsedAt: null }, { lastUsedAt: { lt: before } }] }
  await tx.oAuthClient.updateMany({ where, data: { lastUsedAt: at } })
}

/** Ids of the master keys that sealed a client's secret. */
export const listClientSealingKeyIds = async (tx: Transaction): Promise<string[]> => {
  const rows = await tx.oAuthClient.groupBy({ by: ['keyId'], where: { secret: { not: null } } })
  return rows.flatMap(({ keyId }) => keyId ?? [])
}
