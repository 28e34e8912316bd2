import type { KnownSizes } from '../history/response-sizes.store.ts'
import type { JsonValue } from '../lib/kernel/json.ts'
import type { Sealed } from '../lib/process/sealing.ts'
import type { Tool } from '../tools/tool.ts'
import type { ContextRules } from './context-rules.ts'
import type { MaskingRule } from './masking/masking-rule.ts'

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
  /** Whether pages of any website may call the server while it is public. Other servers require a token instead. */
  allowAnyOrigin: boolean
  /** Whether new and changed upstream tools need approval before clients see them. */
  reviewUpstreamChanges: boolean
  /** Whether the bodies of new calls are stored, encrypted, with their history. */
  storesBodies: boolean
  /** Rules that mask texts in results, in addition to secrets. */
  masking: readonly MaskingRule[]
  /** Users other than the owner who may use a private server. */
  allowedUserIds: readonly string[]
  createdAt: Date
  updatedAt: Date
}

/** A private server that the reader may not use: what other members of its organization can see of it. */
export type ClosedServer = Pick<Server, 'id' | 'organizationId' | 'ownerId' | 'name'> & {
  access: 'private'
  isClosed: true
}

export const isClosed = (server: Server | ClosedServer): server is ClosedServer => 'isClosed' in server

/** A named value that belongs to a server. A secret is decrypted only for calls. */
export type Global = { id: string; serverId: string; key: string; createdAt: Date; updatedAt: Date } & (
  | { isSecret: false; value: string }
  | ({ isSecret: true; sealed: Sealed } & SecretOrigins)
)

/** Who set a secret's origins. `pending` is a secret from before secrets had origins. */
export type OriginsBy = 'pending' | 'nobody' | 'storer' | 'manager'

export type SecretOrigins = {
  /** The origins that the secret may be sent to. Undefined if nobody has set them, in which case it is sent nowhere. */
  origins: readonly string[] | undefined
  originsBy: OriginsBy
  /** The user who stored the value. Undefined for a value from before this was recorded. */
  storedBy: string | undefined
}

/** The source of a parameter's value in an instance. */
export type Binding =
  /** A fixed value, which may contain `{{global}}`. */
  | { source: 'instance'; value: JsonValue }
  /** From a global or a secret. `key` is its key. If undefined, the key is the parameter's own name. */
  | { source: 'server'; key: string | undefined }
  /** From the model: the caller's argument. */
  | { source: 'exposed' }

/** Bindings by parameter name. A parameter without a binding is exposed. */
export type Bindings = Readonly<Record<string, Binding>>

export type Instance = {
  id: string
  serverId: string
  name: string
  /** Replaces the tool's own description. */
  description: string | undefined
  /** Token budget of one result, in place of the server's. 0 means no limit. */
  maxResponseTokens: number | undefined
  /** Whether clients see the tool and can call it. */
  isEnabled: boolean
  bindings: Bindings
  tool: Tool
  createdAt: Date
  updatedAt: Date
}

/** Everything the runtime needs to compile a server. */
export type ServerBlueprint = {
  server: Server
  globals: readonly Global[]
  instances: readonly Instance[]
  /** Toolkits that the instances come from, oldest first. Empty if the presentation is flat or passthrough. */
  toolkits: readonly { id: string; title: string; description: string | undefined }[]
  use: ServerUse
}

/** What the lists of a server depend on besides its definition. */
export type ServerUse = {
  /** Sizes of the responses. Undefined if a builder chose what is listed, or an MCP server is attached. */
  sizes: KnownSizes | undefined
  /** The enabled MCP servers, as far as cut results are concerned: whether each has budgets of its own. */
  upstreams: readonly { hasBudgets: boolean }[]
  /** Names of tools, most used first. Empty unless tools may be found by search. */
  mostUsed: readonly string[]
}
