import type { JsonObject, JsonValue } from '../kernel/index.ts'

/** Content blocks of a tool's answer (specification, server/tools#tool-result). */
export type ContentBlock =
  | { type: 'text'; text: string }
  | { type: 'image'; data: string; mimeType: string }
  | { type: 'audio'; data: string; mimeType: string }
  | { type: 'resource'; resource: { uri: string; mimeType: string; blob: string } }

export type ToolResult = {
  content: ContentBlock[]
  structuredContent?: JsonValue
  isError?: boolean
}

export type ToolAnnotations = {
  title?: string
  readOnlyHint?: boolean
  destructiveHint?: boolean
  idempotentHint?: boolean
  openWorldHint?: boolean
}

/** Who calls, as the access check found out. */
export type Caller = { userId: string; tokenId: string } | undefined

export type CallContext = {
  caller: Caller
  /** As the client calls itself: `name/version`. */
  client: string | undefined
  signal: AbortSignal
}

/** One tool of a mounted server; `call` runs the whole way (resolve, send, shape, record) and never throws. */
export type CompiledTool = {
  name: string
  title: string | undefined
  description: string | undefined
  inputSchema: JsonObject
  outputSchema: JsonObject | undefined
  annotations: ToolAnnotations
  call: (args: unknown, context: CallContext) => Promise<ToolResult>
}

/** Who may use a server; checked on every request. */
export type AccessPolicy = {
  serverId: string
  tier: 'public' | 'organization' | 'private'
  organizationId: string
  ownerId: string
  allowedUserIds: ReadonlySet<string>
}

/** A server as one immutable value: what a call needs, and nothing that reads a database. */
export type CompiledServer = {
  id: string
  name: string
  description: string | undefined
  access: AccessPolicy
  /** In a fixed order: by name. */
  tools: readonly CompiledTool[]
}
