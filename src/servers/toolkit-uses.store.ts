import type { Transaction } from '../platform/db/index.ts'
import { type IdPage, idPageQuery } from '../platform/http/index.ts'
import type { Uses } from '../toolkits/index.ts'

/** Lets a server take tools from a toolkit; nothing happens when it may already. */
export const addUse = async (tx: Transaction, serverId: string, toolkitId: string): Promise<void> => {
  const where = { serverId_toolkitId: { serverId, toolkitId } }
  await tx.toolkitUse.upsert({ where, create: { serverId, toolkitId }, update: {} })
}

/** Whether there was one to remove. */
export const removeUse = async (tx: Transaction, serverId: string, toolkitId: string): Promise<boolean> =>
  (await tx.toolkitUse.deleteMany({ where: { serverId, toolkitId } })).count > 0

/** The toolkits, snapshots among them, that a server may take tools from; oldest use first. */
export const listUsedToolkits = async (tx: Transaction, serverId: string, page: IdPage) => {
  const { where, ...rest } = idPageQuery(page)
  const rows = await tx.toolkitUse.findMany({
    where: { serverId, ...where },
    ...rest,
    include: {
      toolkit: { select: { id: true, title: true, organizationId: true, snapshotOfId: true, snapshotAt: true } },
    },
  })
  return rows.map(({ id, createdAt, updatedAt, toolkit }) => ({ id, createdAt, updatedAt, toolkit }))
}

export const listServerIdsUsing = async (tx: Transaction, toolkitId: string): Promise<string[]> =>
  (await tx.toolkitUse.findMany({ where: { toolkitId }, select: { serverId: true } })).map(row => row.serverId)

/** A tool of one of these organizations, or the copy that a server's snapshot holds of it; with its toolkit. */
export const findToolForServer = async (
  tx: Transaction,
  server: { id: string; organizationId: string },
  toolId: string,
): Promise<{ id: string; toolkitId: string } | undefined> => {
  const row = await tx.tool.findFirst({
    where: {
      OR: [
        { id: toolId, toolkit: { organizationId: server.organizationId, snapshotOfId: null } },
        { originId: toolId, toolkit: { serverId: server.id } },
        { id: toolId, toolkit: { serverId: server.id } },
      ],
    },
    select: { id: true, toolkitId: true },
  })
  return row ?? undefined
}

/** What toolkits ask before they let something go: the names of the servers that use it. */
export const uses: Uses = {
  ofToolkit: async (tx, toolkitId) => {
    const rows = await tx.toolkitUse.findMany({ where: { toolkitId }, select: { server: { select: { name: true } } } })
    return rows.map(row => row.server.name)
  },
  ofTool: async (tx, toolId) => {
    const rows = await tx.instance.findMany({
      where: { toolId },
      select: { server: { select: { name: true } } },
      distinct: ['serverId'],
    })
    return rows.map(row => row.server.name)
  },
}
