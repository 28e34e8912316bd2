import type { Transaction } from '../../lib/db/client.ts'
import { type IdPage, idPageQuery } from '../../lib/http/id-paging.ts'
import type { Sealed } from '../../lib/process/sealing.ts'
import { type AccountMark, EVERYBODY, type Holder } from './account.ts'

type MarkRow = { id: string; upstreamId: string; holder: string; connectedAt: Date; brokenAt: Date | null }

const toMark = ({ id, upstreamId, holder, connectedAt, brokenAt }: MarkRow): AccountMark => ({
  id,
  upstreamId,
  holder,
  connectedAt,
  brokenAt: brokenAt ?? undefined,
})

export type StoredAccount = AccountMark & { version: number; sealed: Sealed }

type AccountRow = MarkRow & { version: number; content: string; keyId: string }

const toAccount = (row: AccountRow): StoredAccount => ({
  ...toMark(row),
  version: row.version,
  sealed: { text: row.content, keyId: row.keyId },
})

export const findAccount = async (
  tx: Transaction,
  upstreamId: string,
  holder: Holder,
): Promise<StoredAccount | undefined> => {
  const row = await tx.upstreamAccount.findUnique({ where: { upstreamId_holder: { upstreamId, holder } } })
  return row === null ? undefined : toAccount(row)
}

/** The accounts that all callers share, by upstream. */
export const readSharedMarks = async (
  tx: Transaction,
  upstreamIds: readonly string[],
): Promise<ReadonlyMap<string, AccountMark>> => {
  if (upstreamIds.length === 0) return new Map()
  const rows = await tx.upstreamAccount.findMany({ where: { upstreamId: { in: [...upstreamIds] }, holder: EVERYBODY } })
  return new Map(rows.map(row => [row.upstreamId, toMark(row)]))
}

/** Of an upstream whose callers have their own: who connected last, first, and is connected still; with its server. */
export const listLatestHolders = async (
  tx: Transaction,
  upstreamId: string,
  limit: number,
): Promise<{ holder: Holder; serverId: string }[]> => {
  const rows = await tx.upstreamAccount.findMany({
    where: { upstreamId, userId: { not: null }, brokenAt: null },
    orderBy: { connectedAt: 'desc' },
    take: limit,
    select: { holder: true, upstream: { select: { serverId: true } } },
  })
  return rows.map(({ holder, upstream: { serverId } }) => ({ holder, serverId }))
}

/** Whether anybody's is connected and good, as far as is known. */
export const hasGoodAccount = async (tx: Transaction, upstreamId: string): Promise<boolean> =>
  (await tx.upstreamAccount.count({ where: { upstreamId, brokenAt: null } })) > 0

export const countAccounts = (tx: Transaction, upstreamId: string): Promise<number> =>
  tx.upstreamAccount.count({ where: { upstreamId, userId: { not: null } } })

/** A user's own, with the upstream and the server that each is of. */
export type OwnAccount = AccountMark & {
  createdAt: Date
  updatedAt: Date
  upstreamName: string
  serverId: string
  serverName: string
  organizationId: string
}

const OWN = {
  upstream: { select: { name: true, server: { select: { id: true, name: true, organizationId: true } } } },
} as const

type OwnRow = MarkRow & {
  createdAt: Date
  updatedAt: Date
  upstream: { name: string; server: { id: string; name: string; organizationId: string } }
}

const toOwn = (row: OwnRow): OwnAccount => ({
  ...toMark(row),
  createdAt: row.createdAt,
  updatedAt: row.updatedAt,
  upstreamName: row.upstream.name,
  serverId: row.upstream.server.id,
  serverName: row.upstream.server.name,
  organizationId: row.upstream.server.organizationId,
})

export const listOwnAccounts = async (tx: Transaction, userId: string, page: IdPage): Promise<OwnAccount[]> => {
  const { where, ...rest } = idPageQuery(page)
  const mine = { userId, upstream: { server: { removedAt: null } }, ...where }
  return (await tx.upstreamAccount.findMany({ where: mine, include: OWN, ...rest })).map(toOwn)
}

export const findOwnAccount = async (tx: Transaction, userId: string, id: string): Promise<OwnAccount | undefined> => {
  const row = await tx.upstreamAccount.findFirst({
    where: { id, userId, upstream: { server: { removedAt: null } } },
    include: OWN,
  })
  return row === null ? undefined : toOwn(row)
}

/** Puts it in the place of the one before. */
export const putAccount = async (
  tx: Transaction,
  { upstreamId, holder, sealed, connectedAt }: Pick<StoredAccount, 'upstreamId' | 'holder' | 'sealed' | 'connectedAt'>,
): Promise<void> => {
  const data = { content: sealed.text, keyId: sealed.keyId, connectedAt, brokenAt: null, renewingUntil: null }
  await tx.upstreamAccount.upsert({
    where: { upstreamId_holder: { upstreamId, holder } },
    create: { upstreamId, holder, userId: holder === EVERYBODY ? null : holder, ...data },
    update: { ...data, version: { increment: 1 } },
  })
}

/** The turn to renew this set of tokens, until `until`: false where another process has it, or they are renewed. */
export const claimRenewal = async (
  tx: Transaction,
  { id, version }: Pick<StoredAccount, 'id' | 'version'>,
  { now, until }: { now: Date; until: Date },
): Promise<boolean> => {
  // One statement, so atomic.
  const { count } = await tx.upstreamAccount.updateMany({
    where: { id, version, brokenAt: null, OR: [{ renewingUntil: null }, { renewingUntil: { lt: now } }] },
    data: { renewingUntil: until },
  })
  return count > 0
}

/** Gives the turn back, with nothing renewed. */
export const dropRenewal = async (
  tx: Transaction,
  { id, version }: Pick<StoredAccount, 'id' | 'version'>,
): Promise<void> => {
  await tx.upstreamAccount.updateMany({ where: { id, version }, data: { renewingUntil: null } })
}

/** Whether the set that was renewed was still the one that is kept. */
export const saveRenewed = async (
  tx: Transaction,
  { id, version, sealed }: Pick<StoredAccount, 'id' | 'version' | 'sealed'>,
): Promise<boolean> => {
  const { count } = await tx.upstreamAccount.updateMany({
    where: { id, version },
    data: { content: sealed.text, keyId: sealed.keyId, version: version + 1, renewingUntil: null },
  })
  return count > 0
}

/** The server that it is of, where it was good until then. */
export const breakAccount = async (
  tx: Transaction,
  { id, version }: Pick<StoredAccount, 'id' | 'version'>,
  brokenAt: Date,
): Promise<string | undefined> => {
  const { count } = await tx.upstreamAccount.updateMany({
    where: { id, version, brokenAt: null },
    data: { brokenAt, renewingUntil: null },
  })
  if (count === 0) return undefined
  const row = await tx.upstreamAccount.findUnique({
    where: { id },
    select: { upstream: { select: { serverId: true } } },
  })
  return row?.upstream.serverId
}

export const removeAccount = async (tx: Transaction, id: string): Promise<void> => {
  await tx.upstreamAccount.deleteMany({ where: { id } })
}

/** Of those that go together so many are revoked. */
const MAX_TAKEN = 1_000

/** Removes all of an upstream's; answers them. */
export const takeAccountsOf = async (tx: Transaction, upstreamId: string): Promise<StoredAccount[]> => {
  const rows = await tx.upstreamAccount.findMany({ where: { upstreamId }, take: MAX_TAKEN })
  await tx.upstreamAccount.deleteMany({ where: { upstreamId } })
  return rows.map(toAccount)
}

/** Removes all of the upstreams of a server that is marked as removed; answers them. */
export const takeAccountsOfRemovedServer = async (tx: Transaction, serverId: string): Promise<StoredAccount[]> => {
  const where = { upstream: { server: { id: serverId, removedAt: { not: null } } } }
  const rows = await tx.upstreamAccount.findMany({ where, take: MAX_TAKEN })
  await tx.upstreamAccount.deleteMany({ where })
  return rows.map(toAccount)
}

/** Removes all of a user's own; answers them. */
export const takeAccountsOfUser = async (tx: Transaction, userId: string): Promise<StoredAccount[]> => {
  const rows = await tx.upstreamAccount.findMany({ where: { userId }, take: MAX_TAKEN })
  await tx.upstreamAccount.deleteMany({ where: { userId } })
  return rows.map(toAccount)
}
