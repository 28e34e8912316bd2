import { hash } from 'node:crypto'
import type { Transaction } from '../lib/db/client.ts'
import type { JsonObject } from '../lib/kernel/json.ts'

/** Hashes a handle (a token, a code, a cookie's id) for storage and lookup. */
const hashHandle = (handle: string): string => hash('sha256', handle)

/** An object that the authorization server stores. `payload` does not contain its handle. */
export type Artifact = {
  /** The row's id, if the caller needs to choose it. */
  id?: string
  kind: string
  handle: string
  payload: JsonObject
  grantId?: string | undefined
  /** For sessions only. */
  uid?: string | undefined
  userId?: string | undefined
  clientId?: string | undefined
  serverId?: string | undefined
  /** If undefined, the artifact does not expire. */
  expiresAt?: Date | undefined
}

export type StoredArtifact = { payload: unknown; consumedAt: Date | undefined }

const identify = (kind: string, handle: string) => ({ kind_handleHash: { kind, handleHash: hashHandle(handle) } })

export const putArtifact = async (tx: Transaction, { id, kind, handle, uid, ...artifact }: Artifact): Promise<void> => {
  const data = {
    payload: artifact.payload,
    grantId: artifact.grantId ?? null,
    uidHash: uid === undefined ? null : hashHandle(uid),
    userId: artifact.userId ?? null,
    clientId: artifact.clientId ?? null,
    serverId: artifact.serverId ?? null,
    expiresAt: artifact.expiresAt ?? null,
  }
  const create = { ...(id !== undefined && { id }), kind, handleHash: hashHandle(handle), ...data }
  await tx.oAuthArtifact.upsert({ where: identify(kind, handle), create, update: data })
}

const toStored = (row: { payload: unknown; consumedAt: Date | null } | null): StoredArtifact | undefined =>
  row === null ? undefined : { payload: row.payload, consumedAt: row.consumedAt ?? undefined }

export const findArtifact = async (
  tx: Transaction,
  kind: string,
  handle: string,
): Promise<StoredArtifact | undefined> => toStored(await tx.oAuthArtifact.findUnique({ where: identify(kind, handle) }))

export const findArtifactByUid = async (
  tx: Transaction,
  kind: string,
  uid: string,
): Promise<StoredArtifact | undefined> =>
  toStored(await tx.oAuthArtifact.findFirst({ where: { kind, uidHash: hashHandle(uid) } }))

/** Consumes an artifact. Only one of several concurrent calls returns true, even across processes. */
export const consumeArtifact = async (tx: Transaction, kind: string, handle: string): Promise<boolean> => {
  const where = { kind, handleHash: hashHandle(handle), consumedAt: null }
  return (await tx.oAuthArtifact.updateMany({ where, data: { consumedAt: new Date() } })).count > 0
}

const TOKEN_SLACK_MS = 1_000

/** Returns whether all tokens for a code consumed at `since` have been issued. */
export const wereTokensIssued = async (tx: Transaction, grantId: string, since: Date): Promise<boolean> => {
  // The refresh token is issued last. A client without refresh tokens has only an access token, which counts once it is
  // older than the slack.
  const late = { kind: 'AccessToken', createdAt: { gte: since, lt: new Date(Date.now() - TOKEN_SLACK_MS) } }
  const where = { grantId, OR: [{ kind: 'RefreshToken', createdAt: { gte: since } }, late] }
  return (await tx.oAuthArtifact.count({ where })) > 0
}

/** Removes an artifact and returns its user. Returns undefined if the artifact did not exist. */
export const removeArtifact = async (
  tx: Transaction,
  kind: string,
  handle: string,
): Promise<{ userId: string | undefined } | undefined> => {
  const row = await tx.oAuthArtifact.findUnique({ where: identify(kind, handle), select: { id: true, userId: true } })
  if (row === null) return undefined
  await tx.oAuthArtifact.deleteMany({ where: { id: row.id } })
  return { userId: row.userId ?? undefined }
}

/** Returns whether any artifact is stored. */
export const hasArtifacts = async (tx: Transaction): Promise<boolean> =>
  (await tx.oAuthArtifact.findFirst({ select: { id: true } })) !== null
