import type { Transaction } from '../lib/db/client.ts'

/** What a model reads of a tool to choose by. */
export type ToolText = { id: string; name: string; description: string | undefined }

/** Of all tools of a toolkit, the oldest first; for who may see it. */
export const listToolTexts = async (tx: Transaction, toolkitId: string): Promise<ToolText[]> => {
  const rows = await tx.tool.findMany({
    where: { toolkitId },
    select: { id: true, name: true, description: true },
    orderBy: { id: 'asc' },
  })
  return rows.map(({ description, ...row }) => ({ ...row, description: description ?? undefined }))
}
