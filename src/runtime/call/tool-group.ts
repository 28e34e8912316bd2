import type { UnlistedTools } from './compiled-server.ts'
import type { CompiledTool } from './compiled-tool.ts'

/** A toolkit or upstream as a group of a grouped server. */
export type ToolGroup = {
  name: string
  description: string | undefined
  /** The current failure, if the group is unavailable. */
  outage: string | undefined
  /** The tools, under their names in the group. Undefined if they have never been fetched. */
  tools: readonly CompiledTool[] | undefined
  /** More tools, only for clients that accept requests from upstreams. Named like `tools`. */
  unlisted?: UnlistedTools | undefined
  /** Whether lists omit the group. Its tools can be called all the same. */
  isHidden?: boolean | undefined
  /** Why the group has no tools at all. If set, the group is not listed, and a request for it returns this error. */
  off?: string | undefined
}
