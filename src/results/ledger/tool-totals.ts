import { LRUCache } from 'lru-cache'
import type { NamedTool } from '../../runtime/call/call-cost.ts'

/** Sums of the counted results of one tool since startup. */
export type ToolTotal = {
  serverId: string
  tool: string
  counted: number
  /** Tokens that would have been sent without cutting. */
  tokensBefore: number
  tokensSent: number
  /** Number of results that do not match the tool's output schema. */
  mismatches: number
}

/** Maximum number of tools with totals of their own: each adds several series to /metrics. */
const MAX_TOOLS = 1_000
/** Maximum number of tools per server. An upstream may accept any name that a caller invents. */
const MAX_TOOLS_OF_SERVER = 300
/**
 * Tool name for the tools beyond a server's limit, and server id for those beyond the overall
 * limit. No server has this id.
 */
const OTHER = 'other'
/** Maximum number of removed servers to remember. Their last results may still be waiting to be counted. */
const MAX_REMOVED = 1_000

const begin = (serverId: string, tool: string): ToolTotal => ({
  serverId,
  tool,
  counted: 0,
  tokensBefore: 0,
  tokensSent: 0,
  mismatches: 0,
})

/** Sums the tokens of results by tool. Tools beyond the limits share one total. */
export const createToolTotals = () => {
  const totals = new Map<string, ToolTotal>()
  const toolsOfServer = new Map<string, number>()
  const others = begin(OTHER, OTHER)
  const removed = new LRUCache<string, true>({ max: MAX_REMOVED })

  const find = ({ serverId, name }: NamedTool): ToolTotal => {
    const key = `${serverId} ${name}`
    const known = totals.get(key)
    if (known !== undefined) return known
    const tools = toolsOfServer.get(serverId) ?? 0
    if (tools >= MAX_TOOLS_OF_SERVER && name !== OTHER) return find({ serverId, name: OTHER })
    if (totals.size >= MAX_TOOLS) return others
    const made = begin(serverId, name)
    totals.set(key, made)
    toolsOfServer.set(serverId, tools + 1)
    return made
  }

  return {
    add: (tool: NamedTool, tokensBefore: number, tokensSent: number, isMismatch: boolean): void => {
      if (removed.has(tool.serverId)) return
      const total = find(tool)
      total.counted++
      total.tokensBefore += tokensBefore
      total.tokensSent += tokensSent
      if (isMismatch) total.mismatches++
    },
    list: (): readonly ToolTotal[] => [...totals.values(), ...(others.counted > 0 ? [others] : [])],
    /** Lists the servers with totals. */
    listServers: (): readonly string[] => [...toolsOfServer.keys()],
    /** Drops the totals of a removed server, and ignores its later results. */
    forgetServer: (serverId: string): void => {
      removed.set(serverId, true)
      toolsOfServer.delete(serverId)
      for (const [key, total] of totals) if (total.serverId === serverId) totals.delete(key)
    },
  }
}
