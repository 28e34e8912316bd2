import type { Transaction } from '../../lib/db/client.ts'
import { type IdPage, idPageQuery } from '../../lib/http/id-paging.ts'
import { problemOf } from '../../tools/stored-definition.ts'
import type { ServerRef, Uses } from '../../tools/toolkits.service.ts'
import { findSnapshot } from '../../tools/toolkits.store.ts'
import type { User } from '../access/access.ts'
import { openTo } from '../access/open-to.store.ts'

/** Adds a toolkit to a server if it has not been added yet. */
export const addUse = async (tx: Transaction, serverId: string, toolkitId: string): Promise<void> => {
  const where = { serverId_toolkitId: { serverId, toolkitId } }
  await tx.toolkitUse.upsert({ where, create: { serverId, toolkitId }, update: {} })
}

export const countUses = (tx: Transaction, serverId: string): Promise<number> =>
  tx.toolkitUse.count({ where: { serverId } })

/** Removes a toolkit from a server. Returns whether the server used it. */
export const removeUse = async (tx: Transaction, serverId: string, toolkitId: string): Promise<boolean> =>
  (await tx.toolkitUse.deleteMany({ where: { serverId, toolkitId } })).count > 0

const WITH_TOOLKIT = {
  toolkit: { select: { id: true, title: true, organizationId: true, snapshotOfId: true, snapshotAt: true } },
} as const

/** Lists a page of the toolkits and snapshots that a server uses, in the order they were added. */
export const listUsedToolkits = async (tx: Transaction, serverId: string, page: IdPage) => {
  const rows = await tx.toolkitUse.findMany({ ...idPageQuery(page, { serverId }), include: WITH_TOOLKIT })
  return rows.map(({ id, createdAt, updatedAt, toolkit }) => ({ id, createdAt, updatedAt, toolkit }))
}
export type ToolkitUse = Awaited<ReturnType<typeof listUsedToolkits>>[number]

/** Lists all toolkits and snapshots that a server uses, in the order they were added. */
export const listToolkitsInUse = async (tx: Transaction, serverId: string) => {
  const select = { toolkit: { select: { id: true, title: true, snapshotOfId: true } } } as const
  const rows = await tx.toolkitUse.findMany({ where: { serverId }, orderBy: { id: 'asc' }, select })
  return rows.map(({ toolkit: { id, title, snapshotOfId } }) => ({ id, title, isSnapshot: snapshotOfId !== null }))
}

/** Finds a server's use of a toolkit. `toolkitId` is the snapshot's ID if the server uses a snapshot. */
export const findUse = async (
  tx: Transaction,
  serverId: string,
  toolkitId: string,
): Promise<ToolkitUse | undefined> => {
  const where = { serverId_toolkitId: { serverId, toolkitId } }
  return (await tx.toolkitUse.findUnique({ where, include: WITH_TOOLKIT })) ?? undefined
}

export const listServerIdsUsing = async (tx: Transaction, toolkitId: string): Promise<string[]> =>
  (await tx.toolkitUse.findMany({ where: { toolkitId }, select: { serverId: true } })).map(row => row.serverId)

/**
 * Finds the tool, or its copy in a snapshot that the server has. After a transfer, the server may have a snapshot of
 * one of its own organization's toolkits. It then gets new tools from that toolkit only by accepting an update.
 */
export const findToolForServer = async (
  tx: Transaction,
  server: { id: string; organizationId: string },
  toolId: string,
): Promise<{ id: string; toolkitId: string } | undefined> => {
  const select = { id: true, toolkitId: true }
  const held = { toolkit: { serverId: server.id } }
  const copy = await tx.tool.findFirst({ where: { OR: [{ originId: toolId }, { id: toolId }], ...held }, select })
  if (copy !== null) return copy
  const ofOrganization = { organizationId: server.organizationId, snapshotOfId: null }
  const own = await tx.tool.findFirst({ where: { id: toolId, toolkit: ofOrganization }, select })
  if (own === null) return undefined
  return (await findSnapshot(tx, server.id, own.toolkitId)) === undefined ? own : undefined
}

/** Returns why a tool cannot be used, with its name; undefined if it can. */
export const findToolProblem = async (
  tx: Transaction,
  toolId: string,
): Promise<{ name: string; problem: string } | undefined> => {
  const tool = await tx.tool.findUnique({ where: { id: toolId }, select: { name: true, definition: true } })
  const problem = tool === null ? undefined : problemOf(tool.definition)
  return tool === null || problem === undefined ? undefined : { name: tool.name, problem }
}

/** Groups servers by the item they use, without duplicates, and sorts them by name. */
const groupServers = (rows: readonly { usedId: string; server: ServerRef }[]): ReadonlyMap<string, ServerRef[]> => {
  const servers = new Map<string, Map<string, ServerRef>>()
  for (const { usedId, server } of rows) {
    const users = servers.get(usedId) ?? new Map<string, ServerRef>()
    servers.set(usedId, users.set(server.id, server))
  }
  const byName = (a: ServerRef, b: ServerRef): number => a.name.localeCompare(b.name, 'en')
  return new Map([...servers].map(([usedId, users]) => [usedId, [...users.values()].sort(byName)]))
}

const onServersOf = (reader: User | undefined) => (reader === undefined ? {} : { server: openTo(reader) })

const SERVER = { select: { id: true, name: true } } as const

/** Tells the tools capability which servers use a toolkit or tool. */
export const uses: Uses = {
  ofToolkits: async (tx, toolkitIds, reader) => {
    const where = { toolkitId: { in: [...toolkitIds] }, ...onServersOf(reader) }
    const rows = await tx.toolkitUse.findMany({ where, select: { toolkitId: true, server: SERVER } })
    return groupServers(rows.map(({ toolkitId, server }) => ({ usedId: toolkitId, server })))
  },
  ofTools: async (tx, toolIds, reader) => {
    const where = { toolId: { in: [...toolIds] }, ...onServersOf(reader) }
    const rows = await tx.instance.findMany({ where, select: { toolId: true, server: SERVER } })
    return groupServers(rows.map(({ toolId, server }) => ({ usedId: toolId, server })))
  },
  addToolkit: async (tx, toolIds, toolkitId) => {
    const where = { toolId: { in: [...toolIds] } }
    const rows = await tx.instance.findMany({ where, select: { serverId: true }, distinct: ['serverId'] })
    for (const { serverId } of rows) await addUse(tx, serverId, toolkitId)
  },
}
