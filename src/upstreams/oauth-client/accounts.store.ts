import type { Rows, Transaction } from '../../lib/db/client.ts'
import { type IdPage, idPageQuery } from '../../lib/http/id-paging.ts'
import { mapFound, withoutNulls } from '../../lib/kernel/missing.ts'
import type { Sealed } from '../../lib/process/sealing.ts'
import type { NamedServer } from '../upstream-audit.ts'
import { enterUpstreamEvent } from '../upstream-events.store.ts'
import { type AccountInfo, EVERYBODY, type Holder } from './account.ts'

/** `organizationId` is the organization of the upstream's server. */
export type StoredAccount = AccountInfo & { organizationId: string; version: number; sealed: Sealed }

const toAccount = ({ content, keyId, ...row }: Rows.UpstreamAccount) => ({
  ...withoutNulls(row),
  sealed: { text: content, keyId },
})

const WITH_ORGANIZATION = { upstream: { select: { server: { select: { organizationId: true } } } } } as const

type WithOrganization = { upstream: { server: { organizationId: string } } }

const toStored = ({ upstream, ...row }: Rows.UpstreamAccount & WithOrganization): StoredAccount => ({
  ...toAccount(row),
  organizationId: upstream.server.organizationId,
})

export const findAccount = async (
  tx: Transaction,
  upstreamId: string,
  holder: Holder,
): Promise<StoredAccount | undefined> => {
  const where = { upstreamId_holder: { upstreamId, holder } }
  return mapFound(await tx.upstreamAccount.findUnique({ where, include: WITH_ORGANIZATION }), toStored)
}

/** Returns the shared account of each upstream that has one. */
export const listSharedAccounts = async (
  tx: Transaction,
  upstreamIds: readonly string[],
): Promise<ReadonlyMap<string, AccountInfo>> => {
  if (upstreamIds.length === 0) return new Map()
  const rows = await tx.upstreamAccount.findMany({ where: { upstreamId: { in: [...upstreamIds] }, holder: EVERYBODY } })
  return new Map(rows.map(row => [row.upstreamId, toAccount(row)]))
}

/**
 * Returns the users who have a working account of their own, with the upstream's server, most recently connected first.
 */
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

export const hasWorkingAccount = async (tx: Transaction, upstreamId: string): Promise<boolean> =>
  (await tx.upstreamAccount.count({ where: { upstreamId, brokenAt: null } })) > 0

export const countAccounts = (tx: Transaction, upstreamId: string): Promise<number> =>
  tx.upstreamAccount.count({ where: { upstreamId, userId: { not: null } } })

/** A user's own account, with its upstream and server. */
export type OwnAccount = AccountInfo & {
  createdAt: Date
  updatedAt: Date
  upstream: { name: string; server: NamedServer }
}

const OWN = {
  upstream: { select: { name: true, server: { select: { id: true, name: true, organizationId: true } } } },
} as const

const toOwn = ({ upstream, ...row }: Rows.UpstreamAccount & Pick<OwnAccount, 'upstream'>): OwnAccount => ({
  ...toAccount(row),
  upstream,
})

export const listOwnAccounts = async (tx: Transaction, userId: string, page: IdPage): Promise<OwnAccount[]> => {
  const mine = { userId, upstream: { server: { removedAt: null } } }
  return (await tx.upstreamAccount.findMany({ ...idPageQuery(page, mine), include: OWN })).map(toOwn)
}

export const findOwnAccount = async (tx: Transaction, userId: string, id: string): Promise<OwnAccount | undefined> => {
  const mine = { id, userId, upstream: { server: { removedAt: null } } }
  return mapFound(await tx.upstreamAccount.findFirst({ where: mine, include: OWN }), toOwn)
}

/** Stores the account, replacing any previous one. */
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

/**
 * Claims the renewal of this set of tokens until `until`. Returns false if another process holds the claim or has
 * already renewed the tokens.
 */
export const claimRenewal = async (
  tx: Transaction,
  { id, version }: Pick<StoredAccount, 'id' | 'version'>,
  { now, until }: { now: Date; until: Date },
): Promise<boolean> => {
  // Uses a single statement, so that the claim is atomic.
  const { count } = await tx.upstreamAccount.updateMany({
    where: { id, version, brokenAt: null, OR: [{ renewingUntil: null }, { renewingUntil: { lt: now } }] },
    data: { renewingUntil: until },
  })
  return count > 0
}

/** Releases the claim without renewing the tokens. */
export const releaseRenewal = async (
  tx: Transaction,
  { id, version }: Pick<StoredAccount, 'id' | 'version'>,
): Promise<void> => {
  await tx.upstreamAccount.updateMany({ where: { id, version }, data: { renewingUntil: null } })
}

/** Saves renewed tokens. Returns false if the tokens were replaced or removed in the meantime. */
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

/** Marks a working account as broken. Returns the id of its server, or undefined if nothing changed. */
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
    select: { upstreamId: true, userId: true, upstream: { select: { serverId: true } } },
  })
  if (row === null) return undefined
  await enterUpstreamEvent(tx, row.upstreamId, { type: 'upstream_account.disconnected', data: { userId: row.userId } })
  return row.upstream.serverId
}

export const removeAccount = async (tx: Transaction, id: string): Promise<void> => {
  await tx.upstreamAccount.deleteMany({ where: { id } })
}

/** Maximum number of accounts that are also revoked when accounts are removed together. */
const MAX_TAKEN = 1_000

const takeAccounts = async (tx: Transaction, where: Rows.Prisma.UpstreamAccountWhereInput) => {
  const rows = await tx.upstreamAccount.findMany({ where, take: MAX_TAKEN, include: WITH_ORGANIZATION })
  await tx.upstreamAccount.deleteMany({ where })
  return rows.map(toStored)
}

/** Removes and returns all accounts of an upstream. */
export const takeAccountsOf = (tx: Transaction, upstreamId: string): Promise<StoredAccount[]> =>
  takeAccounts(tx, { upstreamId })

/** Removes and returns all accounts of a server that is marked as removed. */
export const takeAccountsOfRemovedServer = (tx: Transaction, serverId: string): Promise<StoredAccount[]> =>
  takeAccounts(tx, { upstream: { server: { id: serverId, removedAt: { not: null } } } })

/** Removes and returns all of a user's own accounts. */
export const takeAccountsOfUser = (tx: Transaction, userId: string): Promise<StoredAccount[]> =>
  takeAccounts(tx, { userId })
