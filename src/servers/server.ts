import type { JsonValue } from '../lib/kernel/json.ts'
import type { Sealed } from '../lib/process/sealing.ts'
import type { Tool } from '../tools/tool.ts'
import type { ContextRules } from './context-rules.ts'

export const ACCESS_TIERS = ['public', 'organization', 'private'] as const
export type AccessTier = (typeof ACCESS_TIERS)[number]

/** How clients are shown what a server has; `auto`: flat or searched for, by what the list costs. */
export const PRESENTATIONS = ['flat', 'grouped', 'search', 'auto', 'passthrough'] as const
export type Presentation = (typeof PRESENTATIONS)[number]

export type Server = ContextRules & {
  id: string
  organizationId: string
  ownerId: string
  name: string
  description: string | undefined
  access: AccessTier
  presentation: Presentation
  /** Whether changed and new tools of its upstreams wait for a builder before clients see them. */
  reviewUpstreamChanges: boolean
  /** Users whom the owner of a private server lets in. */
  allowedUserIds: readonly string[]
  createdAt: Date
  updatedAt: Date
}

/** A key and value of a server; of a secret one only the sealed form exists outside of a call. */
export type Global = { id: string; serverId: string; key: string; createdAt: Date; updatedAt: Date } & (
  | { isSecret: false; value: string }
  | { isSecret: true; sealed: Sealed }
)

/** Where one parameter of one instance gets its value. */
export type Binding =
  | { source: 'instance'; value: JsonValue }
  /** `key` of the global; the parameter's own name when none is said. */
  | { source: 'server'; key: string | undefined }
  | { source: 'exposed' }

/** By parameter; one that is not there is exposed. */
export type Bindings = Readonly<Record<string, Binding>>

export type Instance = {
  id: string
  serverId: string
  /** The MCP tool name. */
  name: string
  /** Instead of the tool's own. */
  description: string | undefined
  /** Tokens of its answers that are sent at most, in place of the server's; 0: all. */
  maxResponseTokens: number | undefined
  bindings: Bindings
  tool: Tool
  createdAt: Date
  updatedAt: Date
}

/** Everything a server is made of, read at once: what execution compiles. */
export type ServerBlueprint = {
  server: Server
  globals: readonly Global[]
  instances: readonly Instance[]
  /** Where their tools are shown by toolkit: those of the instances, the oldest first. */
  toolkits: readonly { id: string; title: string; description: string | undefined }[]
}
