import type { JsonObject } from '../lib/kernel/json.ts'
import type { ParameterMeta } from '../templates/parameter-check.ts'
import type { ResultShaping } from './response/result-shaping.ts'

/** MCP tool annotations (specification, server/tools), which override what the HTTP method implies. */
export type ToolAnnotations = {
  title?: string | undefined
  readOnlyHint?: boolean | undefined
  destructiveHint?: boolean | undefined
  idempotentHint?: boolean | undefined
  openWorldHint?: boolean | undefined
}

/** What a builder writes: an HTTP request template and the metadata of its parameters. */
export type ToolDefinition = {
  name: string
  title?: string | undefined
  description?: string | undefined
  method: string
  url: string
  headers: readonly { name: string; value: string }[]
  body?: string | undefined
  timeoutMs?: number | undefined
  parameters: Readonly<Record<string, ParameterMeta>>
  /** Replaces the schema derived from the parameters, for what types, enums and limits cannot express. */
  inputSchema?: JsonObject | undefined
  outputSchema?: JsonObject | undefined
  annotations?: ToolAnnotations | undefined
  /** Origins that a secret may be sent to if a parameter decides the origin. If set, no other origin is called. */
  allowedOrigins?: readonly string[] | undefined
  /** Changes made to its results before they are sent. */
  response?: ResultShaping | undefined
  /** How long a result of a read-only tool is cached for calls that make the same request. */
  cacheSeconds?: number | undefined
  /** Whether all callers share a cached result; otherwise only the caller who caused it gets it. */
  cacheShared?: boolean | undefined
}

export type Tool = ToolDefinition & {
  id: string
  toolkitId: string
  /** In a snapshot: the tool that this one was copied from. */
  originId: string | undefined
  createdAt: Date
  updatedAt: Date
}

export type Visibility = 'private' | 'public'

export type Toolkit = {
  id: string
  organizationId: string
  title: string
  description: string | undefined
  visibility: Visibility
  createdAt: Date
  updatedAt: Date
}

export type ToolkitCard = Toolkit & { organizationName: string; tools: number }

/** A frozen copy of another organization's toolkit, made for one server. */
export type Snapshot = Toolkit & { snapshotOfId: string; snapshotAt: Date; serverId: string }
