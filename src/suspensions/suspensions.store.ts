import type { Rows, Transaction } from '../lib/db/client.ts'
import { type IdPage, idPageQuery } from '../lib/http/id-paging.ts'
import { mapFound, withoutNulls } from '../lib/kernel/missing.ts'
import type { BlockedOrigin, Suspendable, Suspension } from './suspension.ts'

const SUSPENDED = { suspendedAt: { not: null } } as const
const REASON = { id: true, suspendedReason: true } as const

type Reasons = ReadonlyMap<string, string>

/** The reasons of everything that is suspended, by id or origin. */
export type AllReasons = { users: Reasons; organizations: Reasons; servers: Reasons; origins: Reasons }

const byId = (rows: readonly { id: string; suspendedReason: string | null }[]): Reasons =>
  new Map(rows.map(({ id, suspendedReason }) => [id, suspendedReason ?? '']))

/** Reads the reasons of everything that is suspended. */
export const readAllReasons = async (tx: Transaction): Promise<AllReasons> => {
  const query = { where: SUSPENDED, select: REASON } as const
  const origins = await tx.blockedOrigin.findMany({ select: { origin: true, reason: true } })
  return {
    users: byId(await tx.user.findMany(query)),
    organizations: byId(await tx.organization.findMany(query)),
    servers: byId(await tx.server.findMany(query)),
    origins: new Map(origins.map(({ origin, reason }) => [origin, reason])),
  }
}

/** A user, an organization or a server, and whether it is suspended. */
export type Target = Pick<Suspension, 'id' | 'kind' | 'name' | 'organizationId'> & {
  suspension: Suspension | undefined
}

type Row = {
  id: string
  suspendedAt: Date | null
  suspendedReason: string | null
  suspendedById: string | null
}

const toTarget = (kind: Suspendable, name: string, organizationId: string | undefined, row: Row): Target => {
  const { id, suspendedAt: since, suspendedReason: reason, suspendedById } = withoutNulls(row)
  const target = { id, kind, name, organizationId }
  if (since === undefined) return { ...target, suspension: undefined }
  return { ...target, suspension: { ...target, reason: reason ?? '', since, suspendedById } }
}

const ofUser = (row: Row & { email: string }): Target => toTarget('user', row.email, undefined, row)
const ofOrganization = (row: Row & { name: string }): Target => toTarget('organization', row.name, undefined, row)
const ofServer = (row: Row & { name: string; organizationId: string }): Target =>
  toTarget('server', row.name, row.organizationId, row)

/** Finds a user, an organization or a server, in any organization. */
export const findTarget = async (tx: Transaction, kind: Suspendable, id: string): Promise<Target | undefined> => {
  switch (kind) {
    case 'user':
      return mapFound(await tx.user.findUnique({ where: { id } }), ofUser)
    case 'organization':
      return mapFound(await tx.organization.findUnique({ where: { id } }), ofOrganization)
    case 'server':
      return mapFound(await tx.server.findUnique({ where: { id, removedAt: null } }), ofServer)
  }
}

/** Finds ids by name: the email address of a user, or the name of organizations or servers. */
export const findIdsNamed = async (
  tx: Transaction,
  kind: Suspendable,
  name: string,
  limit: number,
): Promise<string[]> => {
  const findRows = (): Promise<{ id: string }[]> => {
    const select = { id: true } as const
    switch (kind) {
      case 'user':
        return tx.user.findMany({ where: { email: name.toLowerCase() }, select, take: limit })
      case 'organization':
        return tx.organization.findMany({ where: { name }, select, take: limit })
      case 'server':
        return tx.server.findMany({ where: { name, removedAt: null }, select, take: limit })
    }
  }
  return (await findRows()).map(({ id }) => id)
}

/** Lists everything of one kind that is suspended, in the order of ids. */
export const listSuspended = async (tx: Transaction, kind: Suspendable, page: IdPage): Promise<Suspension[]> => {
  const listTargets = async (): Promise<Target[]> => {
    switch (kind) {
      case 'user':
        return (await tx.user.findMany(idPageQuery(page, SUSPENDED))).map(ofUser)
      case 'organization':
        return (await tx.organization.findMany(idPageQuery(page, SUSPENDED))).map(ofOrganization)
      case 'server':
        return (await tx.server.findMany(idPageQuery(page, { ...SUSPENDED, removedAt: null }))).map(ofServer)
    }
  }
  return (await listTargets()).flatMap(({ suspension }) => suspension ?? [])
}

/** Writes a suspension, or ends it if `suspension` is undefined. */
export const writeSuspension = async (
  tx: Transaction,
  { kind, id }: Pick<Target, 'kind' | 'id'>,
  suspension: { reason: string; at: Date; byId: string | undefined } | undefined,
): Promise<void> => {
  const data = {
    suspendedAt: suspension?.at ?? null,
    suspendedReason: suspension?.reason ?? null,
    suspendedById: suspension?.byId ?? null,
  }
  const change = { where: { id }, data }
  if (kind === 'user') await tx.user.updateMany(change)
  else if (kind === 'organization') await tx.organization.updateMany(change)
  else await tx.server.updateMany(change)
}

const toBlockedOrigin = (row: Rows.BlockedOrigin): BlockedOrigin => withoutNulls(row)

export const listBlockedOrigins = async (tx: Transaction, page: IdPage): Promise<BlockedOrigin[]> =>
  (await tx.blockedOrigin.findMany(idPageQuery(page, {}))).map(toBlockedOrigin)

export const findBlockedOrigin = async (tx: Transaction, id: string): Promise<BlockedOrigin | undefined> =>
  mapFound(await tx.blockedOrigin.findUnique({ where: { id } }), toBlockedOrigin)

/** Blocks an origin. If it is blocked already, replaces the reason. */
export const putBlockedOrigin = async (
  tx: Transaction,
  { origin, reason, createdById }: Pick<BlockedOrigin, 'origin' | 'reason' | 'createdById'>,
): Promise<BlockedOrigin> => {
  const values = { reason, createdById: createdById ?? null }
  return toBlockedOrigin(
    await tx.blockedOrigin.upsert({ where: { origin }, create: { origin, ...values }, update: values }),
  )
}

export const removeBlockedOrigin = async (tx: Transaction, id: string): Promise<void> => {
  await tx.blockedOrigin.deleteMany({ where: { id } })
}
