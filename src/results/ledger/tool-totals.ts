import { LRUCache } from 'lru-cache'
import type { NamedTool } from '../../runtime/call/call-cost.ts'

/** Of the answers of one tool that were counted since the start. */
export type ToolTotal = {
  serverId: string
  tool: string
  counted: number
  /** Had nothing been left out. */
  tokensBefore: number
  tokensSent: number
}

/** Tools that are told apart: each is several series for whoever collects them. */
const MAX_TOOLS = 1_000
/** No server has all of them: an upstream may answer to any name that a caller makes up. */
const MAX_TOOLS_OF_SERVER = 300
/** In place of a server's further tools, and of the server too of all others: an id of a server has another form. */
const OTHER = 'other'
/** Servers known to be removed: answers of the last ones may still wait to be counted. */
const MAX_REMOVED = 1_000

const begin = (serverId: string, tool: string): ToolTotal => ({
  serverId,
  tool,
  counted: 0,
  tokensBefore: 0,
  tokensSent: 0,
})

/** Adds up what answers cost, by tool: the first ones each by itself, what comes after them together. */
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
    add: (tool: NamedTool, tokensBefore: number, tokensSent: number): void => {
      if (removed.has(tool.serverId)) return
      const total = find(tool)
      total.counted++
      total.tokensBefore += tokensBefore
      total.tokensSent += tokensSent
    },
    list: (): readonly ToolTotal[] => [...totals.values(), ...(others.counted > 0 ? [others] : [])],
    /** Those of which anything was added. */
    listServers: (): readonly string[] => [...toolsOfServer.keys()],
    /** Makes room of what no server has any more, and adds nothing of it again. */
    forgetServer: (serverId: string): void => {
      removed.set(serverId, true)
      toolsOfServer.delete(serverId)
      for (const [key, total] of totals) if (total.serverId === serverId) totals.delete(key)
    },
  }
}
