import type { Transaction } from '../../lib/db/client.ts'
import { createToolOutlines, type ParameterHead } from '../../tools/tool-outlines.ts'
import { listDefinitionsAtWork, type WiredTool } from './rewiring.store.ts'

/** Tools asked for by one query: fewer than either database takes values. */
const TOOLS_PER_QUERY = 500

export type ParameterIndex = (
  tx: Transaction,
  serverId: string,
  tools: readonly WiredTool[],
) => Promise<(tool: Pick<WiredTool, 'tool'>) => readonly ParameterHead[]>

/** What parameters the tools of a server have; only the definitions of those that were not read before are fetched. */
export const createParameterIndex = (): ParameterIndex => {
  const outlines = createToolOutlines()
  return async (tx, serverId, tools) => {
    const found = new Map(tools.map(({ tool }) => [tool.id, outlines.find(tool)]))
    const unread = [...found].flatMap(([id, outline]) => (outline === undefined ? [id] : []))
    for (let at = 0; at < unread.length; at += TOOLS_PER_QUERY) {
      const rows = await listDefinitionsAtWork(tx, serverId, unread.slice(at, at + TOOLS_PER_QUERY))
      for (const row of rows) found.set(row.id, outlines.read(row))
    }
    return ({ tool }) => found.get(tool.id)?.parameters ?? []
  }
}
