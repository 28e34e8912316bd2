import type { Database, Rows, Transaction } from '../../lib/db/client.ts'
import { DAY_MS, MINUTE_MS } from '../../lib/kernel/durations.ts'
import { definedFields, mapFound, withoutNulls } from '../../lib/kernel/missing.ts'
import { mayRole, ROLES } from '../../lib/kernel/roles.ts'
import { ImportSettings } from '../import.ts'
import { type StoredUrl, toSealedUrl, toUrlColumns } from '../source-url.ts'
import { type CheckInterval, StoredFound, type ToolkitSource } from './toolkit-source.ts'

const toSource = ({ createdAt: _, updatedAt: __, ...stored }: Rows.ToolkitSource): ToolkitSource => {
  const { settings, sealedUrl, urlKeyId, ...row } = stored
  const { found, ...rest } = withoutNulls(row)
  const { auth } = ImportSettings.parse(settings)
  return {
    ...rest,
    sealedUrl: toSealedUrl({ sealedUrl, urlKeyId }),
    auth,
    found: found === undefined ? undefined : StoredFound.parse(found),
  }
}

export const findToolkitSource = async (tx: Transaction, toolkitId: string): Promise<ToolkitSource | undefined> =>
  mapFound(await tx.toolkitSource.findUnique({ where: { toolkitId } }), toSource)

/** Returns the sources of those of the toolkits that belong to these organizations, by toolkit ID. */
export const listToolkitSources = async (
  tx: Transaction,
  toolkitIds: readonly string[],
  organizationIds: readonly string[],
): Promise<ReadonlyMap<string, ToolkitSource>> => {
  const toolkit = { organizationId: { in: [...organizationIds] } }
  const rows = await tx.toolkitSource.findMany({ where: { toolkitId: { in: [...toolkitIds] }, toolkit } })
  return new Map(rows.map(row => [row.toolkitId, toSource(row)]))
}

/** A new URL has not been checked yet. */
const UNCHECKED = { etag: null, lastModified: null, checkedAt: null, problem: null }

/** `moved` is what replaces the URL. */
type SourceChange = { checkEvery: CheckInterval | undefined; moved?: { url: StoredUrl | undefined } }

export const updateToolkitSource = async (
  tx: Transaction,
  toolkitId: string,
  { checkEvery, moved }: SourceChange,
): Promise<ToolkitSource> => {
  const place = moved && { url: moved.url?.shown ?? null, ...toUrlColumns(moved.url?.sealedUrl), ...UNCHECKED }
  const data = { checkEvery: checkEvery ?? null, ...place }
  return toSource(await tx.toolkitSource.update({ where: { toolkitId }, data }))
}

/** Removes a source. Its tools stay, and are still compared when the source is imported again. */
export const removeToolkitSource = async (tx: Transaction, toolkitId: string): Promise<void> => {
  await tx.toolkitSource.deleteMany({ where: { toolkitId } })
}

export type DueSource = ToolkitSource & { organizationId: string }

/** Lists the sources whose next check is due, longest due first. */
export const listDueSources = async (tx: Transaction, now: Date, limit: number): Promise<DueSource[]> => {
  const before = (days: number) => {
    const lt = new Date(now.getTime() - days * DAY_MS)
    return [{ checkedAt: null }, { checkedAt: { lt } }]
  }
  const rows = await tx.toolkitSource.findMany({
    where: {
      url: { not: null },
      OR: [
        { checkEvery: 'day', OR: before(1) },
        { checkEvery: 'week', OR: before(7) },
      ],
    },
    include: { toolkit: { select: { organizationId: true } } },
    orderBy: { checkedAt: { sort: 'asc', nulls: 'first' } },
    take: limit,
  })
  return rows.map(({ toolkit, ...row }) => ({ ...toSource(row), organizationId: toolkit.organizationId }))
}

/** Selects a source whose URL has not changed since it was found. */
const atPlace = ({ toolkitId, url, sealedUrl }: ToolkitSource) => ({
  toolkitId,
  url: url ?? null,
  sealedUrl: sealedUrl?.text ?? null,
})

/**
 * Notes that a source is being checked. Returns false if another process or request does so. Any process may claim a
 * source, but only one at a time.
 */
export const claimCheck = async (tx: Transaction, source: ToolkitSource, now: Date): Promise<boolean> => {
  const where = { ...atPlace(source), checkedAt: source.checkedAt ?? null }
  return (await tx.toolkitSource.updateMany({ where, data: { checkedAt: now } })).count > 0
}

/** No check takes longer than this. */
const LONGEST_CHECK_MS = 15 * MINUTE_MS

/** Returns the toolkits whose sources may be being checked, in any process. */
export const listRecentlyChecked = async (tx: Transaction, now: Date): Promise<string[]> => {
  const where = { checkedAt: { gt: new Date(now.getTime() - LONGEST_CHECK_MS) } }
  return (await tx.toolkitSource.findMany({ where, select: { toolkitId: true } })).map(({ toolkitId }) => toolkitId)
}

/** The result of a check: why it failed, or what it found. If the source is the one of the last check, neither. */
export type CheckResult = {
  problem?: string
  found?: StoredFound
  /** From the response, for the next conditional request (RFC 9110 §13). */
  validators?: { etag: string | undefined; lastModified: string | undefined }
}

/** Stores the result of a check, unless another version was imported, or the URL changed, in the meantime. */
export const putCheckResult = async (tx: Transaction, source: ToolkitSource, result: CheckResult): Promise<boolean> => {
  const { problem, found, validators } = result
  const data = {
    problem: problem ?? null,
    ...definedFields({ found }),
    ...(validators && { etag: validators.etag ?? null, lastModified: validators.lastModified ?? null }),
  }
  return (await tx.toolkitSource.updateMany({ where: { ...atPlace(source), sha256: source.sha256 }, data })).count > 0
}

/** Maximum number of people who are told about a change. */
const MAX_READERS = 100
const BUILDERS = ROLES.filter(role => mayRole(role, 'build'))

/** Returns the confirmed emails of those who may build in the toolkit's organization, and the toolkit's title. */
export const findReaders = async (
  db: Database,
  toolkitId: string,
): Promise<{ title: string; emails: readonly string[] } | undefined> => {
  const toolkit = await db.toolkit.findUnique({
    where: { id: toolkitId },
    select: { title: true, organizationId: true },
  })
  if (toolkit === null) return undefined
  const { title, organizationId } = toolkit
  const members = await db.membership.findMany({
    where: { organizationId, role: { in: BUILDERS }, user: { emailVerifiedAt: { not: null } } },
    select: { user: { select: { email: true } } },
    orderBy: { id: 'asc' },
    take: MAX_READERS,
  })
  return { title, emails: members.map(({ user }) => user.email) }
}
