import type { Transaction } from '../lib/db/client.ts'

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
