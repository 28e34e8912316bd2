import type { UnlistedTools } from './compiled-server.ts'
import type { CompiledTool } from './compiled-tool.ts'

/** A toolkit or upstream as a group of a grouped server. */
export type ToolGroup = {
  name: string
  description: string | undefined
  /** The current failure, if it is unavailable. */
  outage: string | undefined
  /** Named as in the group. Undefined if they have never been fetched. */
  tools: readonly CompiledTool[] | undefined
  /** Extra tools, listed only for clients that accept requests from upstreams. Named like `tools`. */
  unlisted?: UnlistedTools | undefined
  /** Why it shows no tools at all. Such a group is not listed, but explained on request. */
  off?: string | undefined
}
