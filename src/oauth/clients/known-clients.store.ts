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

/** The network from which a client registered itself, and the SHA-256 hash of its metadata. */
type RegistrationSource = { registeredFrom: string; metadataHash: string }

type NewClient = Pick<KnownClient, 'clientId' | 'sealed'> & {
  /** Uses RFC 7591's member names and does not contain the secret. */
  metadata: JsonObject
  organizationId?: string
  source?: RegistrationSource
}

/** Minimum interval between two writes of a client's last use. */
const NOTE_EVERY_MS = 60 * 60 * 1_000

export const findKnownClient = async (tx: Transaction, clientId: string): Promise<KnownClient | undefined> => {
  const row = await tx.oAuthClient.findUnique({ where: { clientId } })
  if (row === null) return undefined
  const { organizationId, metadata, secret, keyId } = row
  const sealed = secret === null ? undefined : { text: secret, keyId: keyId ?? '' }
  return { clientId, organizationId: organizationId ?? undefined, metadata, sealed }
}

/** Returns whether the client is registered, by itself or by an organization, rather than known by its document. */
export const isRegistered = async (tx: Transaction, clientId: string): Promise<boolean> =>
  (await tx.oAuthClient.count({ where: { clientId } })) > 0

export const createClient = (
  tx: Transaction,
  { sealed, source, ...client }: NewClient,
): Promise<{ id: string; createdAt: Date }> => {
  const secret = sealed && { secret: sealed.text, keyId: sealed.keyId }
  return tx.oAuthClient.create({ data: { ...client, ...secret, ...source }, select: { id: true, createdAt: true } })
}

/** Finds a client with the same metadata from the same network that was registered after `since` and has never been used. */
export const findIdenticalUnused = async (
  tx: Transaction,
  source: RegistrationSource,
  since: Date,
): Promise<{ clientId: string; createdAt: Date } | undefined> => {
  const where = { ...source, lastUsedAt: null, createdAt: { gt: since } }
  return (await tx.oAuthClient.findFirst({ where, select: { clientId: true, createdAt: true } })) ?? undefined
}

/**
 * Returns when the client at a position was registered, counted from 1, newest first, among those that a network
 * registered after `since`. Undefined if there are fewer.
 */
export const findRegistrationTime = async (
  tx: Transaction,
  registeredFrom: string,
  { since, isUnused, position }: { since: Date; isUnused: boolean; position: number },
): Promise<Date | undefined> => {
  const row = await tx.oAuthClient.findFirst({
    where: { registeredFrom, createdAt: { gt: since }, ...(isUnused && { lastUsedAt: null }) },
    select: { createdAt: true },
    orderBy: { createdAt: 'desc' },
    skip: position - 1,
  })
  return row?.createdAt
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
