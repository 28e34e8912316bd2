import type { Transaction } from '../lib/db/client.ts'
import { type IdPage, idPageQuery } from '../lib/http/id-paging.ts'
import type { Snapshot, Toolkit, Visibility } from './tool.ts'

type ToolkitRow = {
  id: string
  organizationId: string
  title: string
  description: string | null
  visibility: Visibility
  snapshotOfId: string | null
  snapshotAt: Date | null
  serverId: string | null
  createdAt: Date
  updatedAt: Date
}

export const toToolkit = (row: ToolkitRow): Toolkit => ({
  id: row.id,
  organizationId: row.organizationId,
  title: row.title,
  description: row.description ?? undefined,
  visibility: row.visibility,
  createdAt: row.createdAt,
  updatedAt: row.updatedAt,
})

const toSnapshot = (row: ToolkitRow): Snapshot | undefined =>
  row.snapshotOfId === null || row.snapshotAt === null || row.serverId === null
    ? undefined
    : { ...toToolkit(row), snapshotOfId: row.snapshotOfId, snapshotAt: row.snapshotAt, serverId: row.serverId }

/** Toolkits that people can edit: all but snapshots. */
const EDITABLE = { snapshotOfId: null }

export const createToolkit = async (
  tx: Transaction,
  data: { organizationId: string; title: string; description: string | undefined; visibility: Visibility },
): Promise<Toolkit> => toToolkit(await tx.toolkit.create({ data: { ...data, description: data.description ?? null } }))

export const findToolkit = async (
  tx: Transaction,
  id: string,
  organizationIds: readonly string[],
): Promise<Toolkit | undefined> => {
  const row = await tx.toolkit.findFirst({
    where: { id, organizationId: { in: [...organizationIds] }, ...EDITABLE },
  })
  return row === null ? undefined : toToolkit(row)
}

/** Finds a toolkit of these organizations or a public one. */
export const findUsableToolkit = async (
  tx: Transaction,
  id: string,
  organizationIds: readonly string[],
): Promise<Toolkit | undefined> => {
  const row = await tx.toolkit.findFirst({
    where: { id, ...EDITABLE, OR: [{ organizationId: { in: [...organizationIds] } }, { visibility: 'public' }] },
  })
  return row === null ? undefined : toToolkit(row)
}

export const listToolkits = async (
  tx: Transaction,
  organizationIds: readonly string[],
  page: IdPage,
): Promise<Toolkit[]> => {
  const { where, ...rest } = idPageQuery(page)
  const mine = { organizationId: { in: [...organizationIds] }, ...EDITABLE }
  return (await tx.toolkit.findMany({ where: { ...mine, ...where }, ...rest })).map(toToolkit)
}

export const countToolkits = (tx: Transaction, organizationId: string): Promise<number> =>
  tx.toolkit.count({ where: { organizationId, ...EDITABLE } })

export const listGallery = async (tx: Transaction, page: IdPage): Promise<Toolkit[]> => {
  const { where, ...rest } = idPageQuery(page)
  const shared = { visibility: 'public' as const, ...EDITABLE }
  return (await tx.toolkit.findMany({ where: { ...shared, ...where }, ...rest })).map(toToolkit)
}

export const updateToolkit = async (
  tx: Transaction,
  id: string,
  data: { title?: string | undefined; description?: string | null | undefined; visibility?: Visibility | undefined },
): Promise<Toolkit> =>
  toToolkit(
    await tx.toolkit.update({
      where: { id },
      data: {
        ...(data.title === undefined ? {} : { title: data.title }),
        ...(data.description === undefined ? {} : { description: data.description }),
        ...(data.visibility === undefined ? {} : { visibility: data.visibility }),
      },
    }),
  )

export const moveToolkit = async (tx: Transaction, id: string, organizationId: string): Promise<Toolkit> =>
  toToolkit(await tx.toolkit.update({ where: { id }, data: { organizationId } }))

export const removeToolkit = async (tx: Transaction, id: string): Promise<void> => {
  await tx.toolkit.delete({ where: { id } })
}

/** Updates the time of the last change, so that holders of snapshots see a pending update. */
export const touchToolkit = async (tx: Transaction, id: string): Promise<void> => {
  await tx.toolkit.update({ where: { id }, data: { updatedAt: new Date() } })
}

export const createSnapshot = async (
  tx: Transaction,
  origin: Toolkit,
  holder: { organizationId: string; serverId: string },
): Promise<Snapshot> => {
  const row = await tx.toolkit.create({
    data: {
      ...holder,
      title: origin.title,
      description: origin.description ?? null,
      visibility: 'private',
      snapshotOfId: origin.id,
      snapshotAt: new Date(),
    },
  })
  const snapshot = toSnapshot(row)
  if (snapshot === undefined) throw new Error('a snapshot was stored without its origin')
  return snapshot
}

export const renewSnapshot = async (tx: Transaction, id: string, origin: Toolkit): Promise<void> => {
  await tx.toolkit.update({
    where: { id },
    data: { title: origin.title, description: origin.description ?? null, snapshotAt: new Date() },
  })
}

export const findSnapshot = async (
  tx: Transaction,
  serverId: string,
  snapshotOfId: string,
): Promise<Snapshot | undefined> => {
  const row = await tx.toolkit.findUnique({ where: { serverId_snapshotOfId: { serverId, snapshotOfId } } })
  return row === null ? undefined : toSnapshot(row)
}

export const listSnapshots = async (tx: Transaction, serverId: string): Promise<Snapshot[]> => {
  const rows = await tx.toolkit.findMany({ where: { serverId }, orderBy: { id: 'asc' } })
  return rows.flatMap(row => toSnapshot(row) ?? [])
}
