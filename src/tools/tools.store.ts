import type { Transaction } from '../lib/db/client.ts'
import { type IdPage, idPageQuery } from '../lib/http/id-paging.ts'
import { fromStored, toStored } from './stored-definition.ts'
import type { Tool, ToolDefinition } from './tool.ts'

type ToolRow = {
  id: string
  toolkitId: string
  originId: string | null
  name: string
  title: string | null
  description: string | null
  definition: unknown
  createdAt: Date
  updatedAt: Date
}

export const toTool = (row: ToolRow): Tool => ({
  ...fromStored(row),
  id: row.id,
  toolkitId: row.toolkitId,
  originId: row.originId ?? undefined,
  createdAt: row.createdAt,
  updatedAt: row.updatedAt,
})

export const createTool = async (tx: Transaction, toolkitId: string, definition: ToolDefinition): Promise<Tool> =>
  toTool(await tx.tool.create({ data: { toolkitId, ...toStored(definition) } }))

export const countTools = (tx: Transaction, toolkitId: string): Promise<number> =>
  tx.tool.count({ where: { toolkitId } })

/** Copies tools of other toolkits in one statement and records the original of each. */
export const copyTools = async (tx: Transaction, toolkitId: string, origins: readonly Tool[]): Promise<void> => {
  await tx.tool.createMany({
    data: origins.map(origin => ({ toolkitId, originId: origin.id, ...toStored(origin) })),
  })
}

/** Finds a tool and its organization. Copies in snapshots are not found, because nobody edits them. */
export const findTool = async (
  tx: Transaction,
  id: string,
  organizationIds: readonly string[],
): Promise<{ tool: Tool; organizationId: string } | undefined> => {
  const row = await tx.tool.findFirst({
    where: { id, toolkit: { organizationId: { in: [...organizationIds] }, snapshotOfId: null } },
    include: { toolkit: { select: { organizationId: true } } },
  })
  return row === null ? undefined : { tool: toTool(row), organizationId: row.toolkit.organizationId }
}

/** Finds a tool of these organizations or of a public toolkit. */
export const findReadableTool = async (
  tx: Transaction,
  id: string,
  organizationIds: readonly string[],
): Promise<Tool | undefined> => {
  const readable = [{ organizationId: { in: [...organizationIds] } }, { visibility: 'public' as const }]
  const row = await tx.tool.findFirst({ where: { id, toolkit: { snapshotOfId: null, OR: readable } } })
  return row === null ? undefined : toTool(row)
}

export const listTools = async (tx: Transaction, toolkitId: string, page: IdPage): Promise<Tool[]> => {
  const { where, ...rest } = idPageQuery(page)
  const rows = await tx.tool.findMany({ where: { toolkitId, ...where }, ...rest })
  return rows.map(toTool)
}

export const listAllTools = async (tx: Transaction, toolkitId: string): Promise<Tool[]> =>
  (await tx.tool.findMany({ where: { toolkitId }, orderBy: { id: 'asc' } })).map(toTool)

export const updateTool = async (tx: Transaction, id: string, definition: ToolDefinition): Promise<Tool> =>
  toTool(await tx.tool.update({ where: { id }, data: toStored(definition) }))

export const removeTool = async (tx: Transaction, id: string): Promise<void> => {
  await tx.tool.delete({ where: { id } })
}

/** What a model chooses a tool by. */
export type ToolText = { id: string; name: string; description: string | undefined }

/** Lists all tools of a toolkit, oldest first. Expects that access was checked. */
export const listToolTexts = async (tx: Transaction, toolkitId: string): Promise<ToolText[]> => {
  const rows = await tx.tool.findMany({
    where: { toolkitId },
    select: { id: true, name: true, description: true },
    orderBy: { id: 'asc' },
  })
  return rows.map(({ description, ...row }) => ({ ...row, description: description ?? undefined }))
}
