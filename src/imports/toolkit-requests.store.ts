import { z } from 'zod'
import type { Transaction } from '../lib/db/client.ts'

const StoredRequest = z.object({
  method: z.string(),
  url: z.string(),
  allowedOrigins: z.array(z.string()).optional(),
})

/** What a tool requests. `allowedOrigins` says where, if a placeholder has the base URL. */
export type ToolRequest = z.infer<typeof StoredRequest>

/** Lists what the tools of a toolkit request. The access to the toolkit has been checked. */
export const listToolRequests = async (
  tx: Transaction,
  toolkitId: string,
): Promise<{ id: string; name: string; request: ToolRequest }[]> => {
  const rows = await tx.tool.findMany({
    where: { toolkitId },
    select: { id: true, name: true, definition: true },
    orderBy: { id: 'asc' },
  })
  return rows.map(({ id, name, definition }) => ({ id, name, request: StoredRequest.parse(definition) }))
}
