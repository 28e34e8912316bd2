import type { Transaction } from '../../lib/db/client.ts'
import { createToolOutlines, type ParameterHead } from '../../tools/tool-outlines.ts'
import { listToolDefinitions, type WiredTool } from './bindings.store.ts'

/** Tools per query; both databases limit the number of bound values. */
const TOOLS_PER_QUERY = 500

export type ParameterIndex = (
  tx: Transaction,
  serverId: string,
  tools: readonly WiredTool[],
) => Promise<(tool: Pick<WiredTool, 'tool'>) => readonly ParameterHead[]>

/** Looks up the parameters of a server's tools. Reads only definitions that are not cached. */
export const createParameterIndex = (): ParameterIndex => {
  const outlines = createToolOutlines()
  return async (tx, serverId, tools) => {
    const found = new Map(tools.map(({ tool }) => [tool.id, outlines.find(tool)]))
    const unread = [...found].flatMap(([id, outline]) => (outline === undefined ? [id] : []))
    for (let at = 0; at < unread.length; at += TOOLS_PER_QUERY) {
      const rows = await listToolDefinitions(tx, serverId, unread.slice(at, at + TOOLS_PER_QUERY))
      for (const row of rows) found.set(row.id, outlines.read(row))
    }
    return ({ tool }) => found.get(tool.id)?.parameters ?? []
  }
}
