import type { UnlistedTools } from './compiled-server.ts'
import type { CompiledTool } from './compiled-tool.ts'

/** A toolkit or upstream as a group of a grouped server. */
export type ToolGroup = {
  name: string
  description: string | undefined
  /** The current failure, if it is unavailable. */
  outage: string | undefined
  /** Under their names in the group. Undefined if the tools have never been fetched. */
  tools: readonly CompiledTool[] | undefined
  /** More tools, only for clients that accept requests from upstreams. Named like `tools`. */
  unlisted?: UnlistedTools | undefined
  /** Why the group has no tools at all. It is then not listed, and this error is returned for its name. */
  off?: string | undefined
}
