import type { JsonValue } from '../lib/kernel/json.ts'
import type { Sealed } from '../lib/process/sealing.ts'
import type { Tool } from '../tools/tool.ts'
import type { ContextRules } from './context-rules.ts'

export const ACCESS_TIERS = ['public', 'organization', 'private'] as const
export type AccessTier = (typeof ACCESS_TIERS)[number]

/** How clients see a server's tools; `auto` is flat or search, depending on the cost of the list. */
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
  /** Whether changed and new tools of its upstreams need approval before clients see them. */
  reviewUpstreamChanges: boolean
  /** Users whom the owner of a private server allows. */
  allowedUserIds: readonly string[]
  createdAt: Date
  updatedAt: Date
}

/** A key and value of a server. The value of a secret is encrypted outside a call. */
export type Global = { id: string; serverId: string; key: string; createdAt: Date; updatedAt: Date } & (
  | { isSecret: false; value: string }
  | { isSecret: true; sealed: Sealed }
)

/** The source of one parameter's value in one instance. */
export type Binding =
  | { source: 'instance'; value: JsonValue }
  /** `key` is that of the global; default: the parameter's own name. */
  | { source: 'server'; key: string | undefined }
  | { source: 'exposed' }

/** By parameter; a missing one is exposed. */
export type Bindings = Readonly<Record<string, Binding>>

export type Instance = {
  id: string
  serverId: string
  name: string
  /** Replaces the tool's own. */
  description: string | undefined
  /** Most tokens sent of its results, instead of the server's limit; 0 sends everything. */
  maxResponseTokens: number | undefined
  bindings: Bindings
  tool: Tool
  createdAt: Date
  updatedAt: Date
}

/** Everything that makes up a server, as the runtime compiles it. */
export type ServerBlueprint = {
  server: Server
  globals: readonly Global[]
  instances: readonly Instance[]
  /** Toolkits of the instances, oldest first; only for the grouped presentation. */
  toolkits: readonly { id: string; title: string; description: string | undefined }[]
}
