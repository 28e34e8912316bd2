import { LRUCache } from 'lru-cache'
import type { Transaction } from '../platform/db/index.ts'
import { compileTemplate } from '../templates/index.ts'
import { listToolsAtWork, type WiredTool } from './rewiring.store.ts'
import type { ParameterHead } from './sockets.ts'

/** Tools whose parameters are remembered: ten full servers, some hundred bytes each. */
const MAX_REMEMBERED = 20_000
/** Tools asked for by one query: fewer than either database takes values. */
const TOOLS_PER_QUERY = 500

export type ParameterIndex = (
  tx: Transaction,
  serverId: string,
  tools: readonly WiredTool[],
) => Promise<(tool: Pick<WiredTool, 'tool'>) => readonly ParameterHead[]>

const keyOf = ({ id, updatedAt }: { id: string; updatedAt: Date }): string => `${id} ${updatedAt.getTime()}`

const headsOf = (definition: Parameters<typeof compileTemplate>[0]): readonly ParameterHead[] => {
  const compiled = compileTemplate(definition)
  return compiled.ok ? compiled.value.parameters.map(({ name, type }) => ({ name, type })) : []
}

/**
 * What parameters the tools of a server have. Reading two thousand templates takes a while, and they seldom change:
 * those read before are remembered until the tool is edited.
 */
export const createParameterIndex = (): ParameterIndex => {
  const known = new LRUCache<string, readonly ParameterHead[]>({ max: MAX_REMEMBERED })
  return async (tx, serverId, tools) => {
    const found = new Map<string, readonly ParameterHead[]>()
    const unread = new Map<string, string>()
    for (const { tool } of tools) {
      const heads = known.get(keyOf(tool))
      if (heads === undefined) unread.set(tool.id, keyOf(tool))
      else found.set(tool.id, heads)
    }
    const ids = [...unread.keys()]
    for (let at = 0; at < ids.length; at += TOOLS_PER_QUERY) {
      for (const tool of await listToolsAtWork(tx, serverId, ids.slice(at, at + TOOLS_PER_QUERY))) {
        const heads = headsOf(tool)
        found.set(tool.id, heads)
        known.set(keyOf(tool), heads)
      }
    }
    return ({ tool }) => found.get(tool.id) ?? []
  }
}
