import type { CompiledTool, UnlistedTools } from './compiled-server.ts'

/** A toolkit or an upstream, as a server that groups shows it. */
export type ToolGroup = {
  name: string
  description: string | undefined
  /** What it failed with, while it cannot be used. */
  outage: string | undefined
  /** By the names that they have in the group; undefined where nobody has heard yet which there are. */
  tools: readonly CompiledTool[] | undefined
  /** Those for clients alone that can be asked something, by the same names. */
  unlisted?: UnlistedTools | undefined
  /** Why it shows no tools at all; then it is no group for clients, unless they ask for it. */
  off?: string | undefined
}
