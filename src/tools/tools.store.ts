import type { Rows, Transaction } from '../lib/db/client.ts'
import { type IdPage, idPageQuery } from '../lib/http/id-paging.ts'
import { mapFound, withoutNulls } from '../lib/kernel/missing.ts'
import { parseDocument, toStored } from './stored-definition.ts'
import type { Tool, ToolDefinition } from './tool.ts'

export const toTool = ({ definition, ...row }: Rows.Tool): Tool => ({
  ...parseDocument(definition),
  ...withoutNulls(row),
})

/** Creates a tool. `restored` is set for a tool that was deleted. */
export const createTool = async (
  tx: Transaction,
  toolkitId: string,
  definition: ToolDefinition,
  restored: Partial<Pick<Tool, 'id' | 'createdAt'>> = {},
): Promise<Tool> => toTool(await tx.tool.create({ data: { toolkitId, ...toStored(definition), ...restored } }))

export type ToolRow = ReturnType<typeof toStored>

/** Creates tools in one statement, and returns them in any order. */
export const createTools = (
  tx: Transaction,
  toolkitId: string,
  rows: readonly ToolRow[],
): Promise<{ id: string; name: string }[]> =>
  tx.tool.createManyAndReturn({
    data: rows.map(row => ({ toolkitId, ...row })),
    select: { id: true, name: true },
  })

export const countTools = (tx: Transaction, toolkitId: string): Promise<number> =>
  tx.tool.count({ where: { toolkitId } })

/** Copies tools from other toolkits in one statement and records the original of each tool. */
export const copyTools = async (tx: Transaction, toolkitId: string, origins: readonly Tool[]): Promise<void> => {
  await tx.tool.createMany({
    data: origins.map(origin => ({ toolkitId, originId: origin.id, ...toStored(origin) })),
  })
}

/** Finds a tool and its organization. Ignores copies in snapshots, which nobody edits. */
export const findTool = async (
  tx: Transaction,
  id: string,
  organizationIds: readonly string[],
): Promise<{ tool: Tool; organizationId: string } | undefined> =>
  mapFound(
    await tx.tool.findFirst({
      where: { id, toolkit: { organizationId: { in: [...organizationIds] }, snapshotOfId: null } },
      include: { toolkit: { select: { organizationId: true } } },
    }),
    row => ({ tool: toTool(row), organizationId: row.toolkit.organizationId }),
  )

/** Finds a tool of these organizations or of a public toolkit. */
export const findReadableTool = async (
  tx: Transaction,
  id: string,
  organizationIds: readonly string[],
): Promise<Tool | undefined> => {
  const readable = [{ organizationId: { in: [...organizationIds] } }, { visibility: 'public' as const }]
  return mapFound(await tx.tool.findFirst({ where: { id, toolkit: { snapshotOfId: null, OR: readable } } }), toTool)
}

export const listTools = async (tx: Transaction, toolkitId: string, page: IdPage): Promise<Tool[]> =>
  (await tx.tool.findMany(idPageQuery(page, { toolkitId }))).map(toTool)

export const listAllTools = async (tx: Transaction, toolkitId: string): Promise<Tool[]> =>
  (await tx.tool.findMany({ where: { toolkitId }, orderBy: { id: 'asc' } })).map(toTool)

/** Lists those of the tools that are in the toolkit, sorted by name. */
export const listToolsById = async (tx: Transaction, toolkitId: string, ids: readonly string[]): Promise<Tool[]> =>
  (await tx.tool.findMany({ where: { toolkitId, id: { in: [...ids] } }, orderBy: { name: 'asc' } })).map(toTool)

type Place = { toolkitId: string; organizationId: string }

/** Returns where those of the tools are that exist, by ID, in all organizations. */
export const listPlaces = async (tx: Transaction, ids: readonly string[]): Promise<ReadonlyMap<string, Place>> => {
  const select = { id: true, toolkit: { select: { id: true, organizationId: true } } } as const
  const rows = await tx.tool.findMany({ where: { id: { in: [...ids] } }, select })
  return new Map(rows.map(({ id, toolkit }) => [id, { toolkitId: toolkit.id, organizationId: toolkit.organizationId }]))
}

/** Moves tools to another toolkit. Throws a unique violation if one of the names is taken there. */
export const moveTools = async (tx: Transaction, ids: readonly string[], toolkitId: string): Promise<void> => {
  await tx.tool.updateMany({ where: { id: { in: [...ids] } }, data: { toolkitId } })
}

/** Returns those of the names that tools of the toolkit have, sorted. */
export const listTakenNames = async (
  tx: Transaction,
  toolkitId: string,
  names: readonly string[],
): Promise<string[]> => {
  const where = { toolkitId, name: { in: [...names] } }
  return (await tx.tool.findMany({ where, select: { name: true }, orderBy: { name: 'asc' } })).map(({ name }) => name)
}

export const removeTools = async (tx: Transaction, ids: readonly string[]): Promise<void> => {
  await tx.tool.deleteMany({ where: { id: { in: [...ids] } } })
}

export const updateTool = async (tx: Transaction, id: string, definition: ToolDefinition): Promise<Tool> =>
  toTool(await tx.tool.update({ where: { id }, data: toStored(definition) }))

export const removeTool = async (tx: Transaction, id: string): Promise<void> => {
  await tx.tool.delete({ where: { id } })
}

/** Each version of a tool gets a later timestamp than the previous one, so no two are equal. */
const nextVersion = (updatedAt: Date): Date => new Date(Math.max(Date.now(), updatedAt.getTime() + 1))

/** Replaces the row of a tool. Returns false, and changes nothing, if that is no longer the version that was read. */
export const replaceRow = async (
  tx: Transaction,
  { id, updatedAt }: Pick<Tool, 'id' | 'updatedAt'>,
  row: ToolRow,
): Promise<boolean> => {
  const data = { ...row, updatedAt: nextVersion(updatedAt) }
  return (await tx.tool.updateMany({ where: { id, updatedAt }, data })).count > 0
}

/**
 * Writes a tool. If `isHeld` is true, writes it only if the stored version is still the one that was read, and returns
 * undefined otherwise.
 */
export const updateVersion = async (
  tx: Transaction,
  { id, updatedAt }: Pick<Tool, 'id' | 'updatedAt'>,
  definition: ToolDefinition,
  isHeld: boolean,
): Promise<Tool | undefined> => {
  const { count } = await tx.tool.updateMany({
    where: isHeld ? { id, updatedAt } : { id },
    data: { ...toStored(definition), updatedAt: nextVersion(updatedAt) },
  })
  return count === 0 ? undefined : toTool(await tx.tool.findUniqueOrThrow({ where: { id } }))
}

export const listToolNames = async (tx: Transaction, toolkitId: string): Promise<string[]> =>
  (await tx.tool.findMany({ where: { toolkitId }, select: { name: true } })).map(({ name }) => name)

export const findToolByName = async (tx: Transaction, toolkitId: string, name: string): Promise<Tool | undefined> =>
  mapFound(await tx.tool.findFirst({ where: { toolkitId, name } }), toTool)

/** Returns the newest tool with this name in a toolkit with this title. */
export const findToolInToolkitTitled = async (
  tx: Transaction,
  { organizationId, title, name }: { organizationId: string; title: string; name: string },
): Promise<Tool | undefined> =>
  mapFound(
    await tx.tool.findFirst({
      where: { name, toolkit: { organizationId, title, snapshotOfId: null } },
      orderBy: { id: 'desc' },
    }),
    toTool,
  )

/** The fields that a model uses to choose a tool. */
export type ToolText = { id: string; name: string; description: string | undefined }

/** Lists all tools of a toolkit, oldest first. The caller checks access. */
export const listToolTexts = async (tx: Transaction, toolkitId: string): Promise<ToolText[]> => {
  const rows = await tx.tool.findMany({
    where: { toolkitId },
    select: { id: true, name: true, description: true },
    orderBy: { id: 'asc' },
  })
  return rows.map(withoutNulls)
}
