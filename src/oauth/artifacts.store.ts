import { hash } from 'node:crypto'
import type { JsonObject } from '../kernel/index.ts'
import type { Transaction } from '../platform/db/index.ts'

/** What is stored and looked up of whatever opens something: a token, a code, the id in a cookie. */
const hashHandle = (handle: string): string => hash('sha256', handle)

/** Something that the authorization server keeps; `payload` holds its handle nowhere. */
export type Artifact = {
  /** Of its row, where it is to be known. */
  id?: string
  kind: string
  handle: string
  payload: JsonObject
  grantId?: string | undefined
  /** Of a session. */
  uid?: string | undefined
  userId?: string | undefined
  clientId?: string | undefined
  serverId?: string | undefined
  /** Left out: kept until it is removed. */
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

/** Whether this call was the one that consumed it: of any number at once, in any number of processes, one is. */
export const consumeArtifact = async (tx: Transaction, kind: string, handle: string, at: Date): Promise<boolean> => {
  const where = { kind, handleHash: hashHandle(handle), consumedAt: null }
  return (await tx.oAuthArtifact.updateMany({ where, data: { consumedAt: at } })).count > 0
}

/** Whether all tokens that a code consumed at `since` was changed for are there by now. */
export const wereTokensIssued = async (
  tx: Transaction,
  grantId: string,
  since: Date,
  slackMs: number,
  now: Date,
): Promise<boolean> => {
  // The refresh token comes last; where a client gets none, some time says that none comes.
  const late = { kind: 'AccessToken', createdAt: { gte: since, lt: new Date(now.getTime() - slackMs) } }
  const where = { grantId, OR: [{ kind: 'RefreshToken', createdAt: { gte: since } }, late] }
  return (await tx.oAuthArtifact.count({ where })) > 0
}

/** Whose it was, where there was one to remove. */
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

/** Whether anything of an application is kept. */
export const hasArtifacts = async (tx: Transaction): Promise<boolean> =>
  (await tx.oAuthArtifact.findFirst({ select: { id: true } })) !== null
