import type { JsonValue } from '../lib/kernel/json.ts'
import type { Sealed } from '../lib/process/sealing.ts'
import type { Tool } from '../tools/tool.ts'
import type { ContextRules } from './context-rules.ts'

export const ACCESS_TIERS = ['public', 'organization', 'private'] as const
export type AccessTier = (typeof ACCESS_TIERS)[number]

/** How clients see a server's tools. `auto` is flat or search, depending on how many tokens the list costs. */
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
  /** Users who may use a private server besides its owner. */
  allowedUserIds: readonly string[]
  createdAt: Date
  updatedAt: Date
}

/** A named value of a server. A secret is decrypted only for a call. */
export type Global = { id: string; serverId: string; key: string; createdAt: Date; updatedAt: Date } & (
  | { isSecret: false; value: string }
  | { isSecret: true; sealed: Sealed }
)

/** The source of a parameter's value in an instance. */
export type Binding =
  | { source: 'instance'; value: JsonValue }
  /** `key` is the key of the global; undefined means the parameter's own name. */
  | { source: 'server'; key: string | undefined }
  | { source: 'exposed' }

/** By parameter. A parameter without a binding is exposed. */
export type Bindings = Readonly<Record<string, Binding>>

export type Instance = {
  id: string
  serverId: string
  name: string
  /** Replaces the description of the tool. */
  description: string | undefined
  /** Token budget of one result, in place of the server's. 0 means no limit. */
  maxResponseTokens: number | undefined
  bindings: Bindings
  tool: Tool
  createdAt: Date
  updatedAt: Date
}

/** Everything that the runtime compiles a server from. */
export type ServerBlueprint = {
  server: Server
  globals: readonly Global[]
  instances: readonly Instance[]
  /** Toolkits of the instances, oldest first. Empty unless the presentation is grouped. */
  toolkits: readonly { id: string; title: string; description: string | undefined }[]
}
