import type { Transaction } from '../lib/db/client.ts'
import { toStored } from './stored-definition.ts'
import type { Tool, ToolDefinition } from './tool.ts'
import { toTool } from './tools.store.ts'

/**
 * Writes a tool. With `isHeld`, only if it is still the version that was read; otherwise returns undefined. Every
 * version gets a later time than the one before, so two are never confused.
 */
export const updateVersion = async (
  tx: Transaction,
  { id, updatedAt }: Pick<Tool, 'id' | 'updatedAt'>,
  definition: ToolDefinition,
  isHeld: boolean,
): Promise<Tool | undefined> => {
  const next = new Date(Math.max(Date.now(), updatedAt.getTime() + 1))
  const { count } = await tx.tool.updateMany({
    where: isHeld ? { id, updatedAt } : { id },
    data: { ...toStored(definition), updatedAt: next },
  })
  return count === 0 ? undefined : toTool(await tx.tool.findUniqueOrThrow({ where: { id } }))
}

export const listToolNames = async (tx: Transaction, toolkitId: string): Promise<string[]> =>
  (await tx.tool.findMany({ where: { toolkitId }, select: { name: true } })).map(({ name }) => name)

export const findToolByName = async (tx: Transaction, toolkitId: string, name: string): Promise<Tool | undefined> => {
  const row = await tx.tool.findFirst({ where: { toolkitId, name } })
  return row === null ? undefined : toTool(row)
}

/** Returns the tool with this name in the newest toolkit with this title. */
export const findToolInToolkitTitled = async (
  tx: Transaction,
  { organizationId, title, name }: { organizationId: string; title: string; name: string },
): Promise<Tool | undefined> => {
  const row = await tx.tool.findFirst({
    where: { name, toolkit: { organizationId, title, snapshotOfId: null } },
    orderBy: { id: 'desc' },
  })
  return row === null ? undefined : toTool(row)
}
