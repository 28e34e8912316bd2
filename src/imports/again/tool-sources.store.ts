import type { Rows, Transaction } from '../../lib/db/client.ts'
import { withoutNulls } from '../../lib/kernel/missing.ts'
import { type Tool, type ToolDefinition, ToolDocument } from '../../tools/tool.ts'
import { toTool } from '../../tools/tools.store.ts'
import type { OperationIdentity } from '../merge/pair-operations.ts'

/** A tool that was imported before, and the operation that it was made from. */
export type ToolOrigin = OperationIdentity & { toolId: string; name: string; key: string; title: string | undefined }

/** `base` is the definition as generated, `sha256` that of its source. */
export type SourcedTool = { tool: Tool; base: ToolDefinition; generator: number; sha256: string | undefined }

/** `key` is method and path. */
const identify = (key: string): Pick<OperationIdentity, 'method' | 'path'> => {
  const space = key.indexOf(' ')
  return { method: key.slice(0, space), path: key.slice(space + 1) }
}

/** Lists the imported tools of a toolkit, oldest first, without their definitions. */
export const listToolOrigins = async (tx: Transaction, toolkitId: string): Promise<ToolOrigin[]> => {
  const rows = await tx.toolSource.findMany({
    where: { tool: { toolkitId } },
    select: { toolId: true, key: true, operationId: true, title: true, tool: { select: { name: true } } },
    orderBy: { toolId: 'asc' },
  })
  return rows.map(({ tool, ...row }) => ({ ...identify(row.key), ...withoutNulls(row), name: tool.name }))
}

const StoredBase = ToolDocument.extend({
  name: ToolDocument.shape.method,
  title: ToolDocument.shape.body,
  description: ToolDocument.shape.body,
})

type SourceRow = Rows.ToolSource & { tool: Rows.Tool }

const toSourcedTool = ({ tool, base, generator, sha256 }: SourceRow): SourcedTool => ({
  tool: toTool(tool),
  base: StoredBase.parse(base),
  generator,
  sha256: sha256 ?? undefined,
})

/** Returns imported tools by ID. The caller has looked up the IDs in the toolkit. */
export const listSourcedTools = async (
  tx: Transaction,
  toolIds: readonly string[],
): Promise<ReadonlyMap<string, SourcedTool>> => {
  const rows = await tx.toolSource.findMany({ where: { toolId: { in: [...toolIds] } }, include: { tool: true } })
  return new Map(rows.map(row => [row.toolId, toSourcedTool(row)]))
}
