import type { JsonObject } from '../lib/kernel/json.ts'
import type { ParameterMeta } from '../templates/parameter-check.ts'
import type { AnswerShaping } from './response/answer-shaping.ts'

/** MCP tool annotations (specification, server/tools): what a builder may override of what the method implies. */
export type ToolAnnotations = {
  title?: string | undefined
  readOnlyHint?: boolean | undefined
  destructiveHint?: boolean | undefined
  idempotentHint?: boolean | undefined
  openWorldHint?: boolean | undefined
}

/** An HTTP request template and what is known of each of its parameters: what a builder writes. */
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
  /** Instead of the schema that the parameters make: for what types, enums and limits cannot say. */
  inputSchema?: JsonObject | undefined
  outputSchema?: JsonObject | undefined
  annotations?: ToolAnnotations | undefined
  /** Origins a secret may go to where a parameter decides the origin; when set, no other origin is reached. */
  allowedOrigins?: readonly string[] | undefined
  /** What is done with its answers before anybody gets them. */
  response?: AnswerShaping | undefined
  /** Of a tool marked read-only: for how long an answer is kept for the next call that makes the same request. */
  cacheSeconds?: number | undefined
  /** Whether a kept answer is for every caller, and not for the one alone who caused it. */
  cacheShared?: boolean | undefined
}

export type Tool = ToolDefinition & {
  id: string
  toolkitId: string
  /** In a snapshot: the tool this one is a copy of. */
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

/** A toolkit as lists show it. `tools`: how many it holds. */
export type ToolkitCard = Toolkit & { organizationName: string; tools: number }

/** A frozen copy of another organization's toolkit, made for one server. */
export type Snapshot = Toolkit & { snapshotOfId: string; snapshotAt: Date; serverId: string }
