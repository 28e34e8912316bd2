import type { Rows, Transaction } from '../lib/db/client.ts'
import { definedFields, mapFound, withoutNulls } from '../lib/kernel/missing.ts'
import type { Snapshot, Toolkit } from './tool.ts'
import type { ToolkitPatch } from './toolkits.schema.ts'

export const toToolkit = ({ snapshotOfId: _, snapshotAt: __, serverId: ___, ...row }: Rows.Toolkit): Toolkit =>
  withoutNulls(row)

const toSnapshot = (row: Rows.Toolkit): Snapshot | undefined =>
  row.snapshotOfId === null || row.snapshotAt === null || row.serverId === null
    ? undefined
    : { ...toToolkit(row), snapshotOfId: row.snapshotOfId, snapshotAt: row.snapshotAt, serverId: row.serverId }

/** Toolkits that people can edit: all except snapshots. */
const EDITABLE = { snapshotOfId: null }

export type ToolkitFields = Pick<Toolkit, 'organizationId' | 'title' | 'description' | 'visibility'>

export const createToolkit = async (tx: Transaction, { description, ...rest }: ToolkitFields): Promise<Toolkit> =>
  toToolkit(await tx.toolkit.create({ data: { ...rest, description: description ?? null } }))

export const findToolkit = async (
  tx: Transaction,
  id: string,
  organizationIds: readonly string[],
): Promise<Toolkit | undefined> =>
  mapFound(
    await tx.toolkit.findFirst({
      where: { id, organizationId: { in: [...organizationIds] }, ...EDITABLE },
    }),
    toToolkit,
  )

/** Finds a toolkit of these organizations, or a public one. */
export const findUsableToolkit = async (
  tx: Transaction,
  id: string,
  organizationIds: readonly string[],
): Promise<Toolkit | undefined> =>
  mapFound(
    await tx.toolkit.findFirst({
      where: { id, ...EDITABLE, OR: [{ organizationId: { in: [...organizationIds] } }, { visibility: 'public' }] },
    }),
    toToolkit,
  )

/** Lists the toolkits of an organization by title, up to a maximum. */
export const listToolkitsByTitle = async (
  tx: Transaction,
  organizationId: string,
  atMost: number,
): Promise<Pick<Toolkit, 'id' | 'title' | 'visibility'>[]> =>
  tx.toolkit.findMany({
    where: { organizationId, ...EDITABLE },
    select: { id: true, title: true, visibility: true },
    orderBy: [{ title: 'asc' }, { id: 'asc' }],
    take: atMost,
  })

export const countToolkits = (tx: Transaction, organizationId: string): Promise<number> =>
  tx.toolkit.count({ where: { organizationId, ...EDITABLE } })

export const updateToolkit = async (
  tx: Transaction,
  id: string,
  { title, description, visibility }: ToolkitPatch,
): Promise<Toolkit> =>
  toToolkit(await tx.toolkit.update({ where: { id }, data: definedFields({ title, description, visibility }) }))

/**
 * Moves a toolkit to another organization. What was entered for its imports stays behind: secrets, values and the server.
 */
export const moveToolkit = async (tx: Transaction, id: string, organizationId: string): Promise<Toolkit> => {
  await tx.import.updateMany({ where: { toolkitId: id }, data: { settings: {}, secrets: null, keyId: null } })
  return toToolkit(await tx.toolkit.update({ where: { id }, data: { organizationId } }))
}

export const removeToolkit = async (tx: Transaction, id: string): Promise<void> => {
  await tx.toolkit.delete({ where: { id } })
}

/** Sets the time of the last change to a toolkit. A change to a tool counts as a change to its toolkit. */
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
): Promise<Snapshot | undefined> =>
  mapFound(await tx.toolkit.findUnique({ where: { serverId_snapshotOfId: { serverId, snapshotOfId } } }), toSnapshot)

export const listSnapshots = async (tx: Transaction, serverId: string): Promise<Snapshot[]> => {
  const rows = await tx.toolkit.findMany({ where: { serverId }, orderBy: { id: 'asc' } })
  return rows.flatMap(row => toSnapshot(row) ?? [])
}
