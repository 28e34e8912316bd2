import { z } from 'zod'
import { GLOBAL_KEY } from '../lib/kernel/names.ts'
import { TEMPLATE_RULES } from '../templates/template.ts'
import { Pagination } from './response/pagination.ts'
import { StoredResponse } from './response/response-rules.ts'

/** MCP tool annotations (specification, server/tools), which override those implied by the HTTP method. */
export const ToolAnnotations = z.object({
  title: z.string().optional(),
  readOnlyHint: z.boolean().optional(),
  destructiveHint: z.boolean().optional(),
  idempotentHint: z.boolean().optional(),
  openWorldHint: z.boolean().optional(),
})
export type ToolAnnotations = z.infer<typeof ToolAnnotations>

const DefaultBinding = z.discriminatedUnion('source', [
  z.strictObject({
    source: z.literal('server'),
    key: z
      .string()
      .regex(GLOBAL_KEY, 'must start with a letter or _ and contain only letters, digits, _ . and -')
      .describe('the key of the global'),
    secret: z.boolean().default(false).describe('whether the value must be a secret'),
  }),
  z.strictObject({
    source: z.literal('instance'),
    value: z.json().describe('the fixed value, in which {{key}} stands for a global'),
  }),
])

export const StoredParameter = z.object({
  description: z.string().optional(),
  enum: z.array(z.json()).optional(),
  default: z.json().optional(),
  example: z.json().optional(),
  minimum: z.number().optional(),
  maximum: z.number().optional(),
  pattern: z.string().optional(),
  schema: z
    .record(z.string(), z.json())
    .optional()
    .describe(
      'JSON Schema 2020-12 of this parameter, part of the input schema; arguments of the model are checked against it; not together with inputSchema',
    ),
  binding: DefaultBinding.optional().describe(
    'the binding of the instances that are added from now on, unless they set their own for this parameter; without such a global on the server, an optional parameter is left out, and a tool with a required one is neither listed nor called',
  ),
})

/**
 * The document in `Tool.definition`: all fields that no query needs. Parsed when read, so that an invalid row fails at
 * that point.
 */
export const ToolDocument = z.object({
  method: z.string(),
  url: z.string(),
  headers: z.array(z.object({ name: z.string(), value: z.string() })),
  body: z.string().optional(),
  timeoutMs: z.int().optional(),
  /** Maximum number of retries after a temporary failure. Only for idempotent methods. */
  retries: z.int().optional(),
  /** Price of a call, in the currency of the organization. Limits of money count it. */
  callPrice: z.number().optional(),
  /**
   * Why the tool cannot be used: its template or a schema is invalid. Set when it is saved. No server can have such a
   * tool.
   */
  problem: z.string().optional(),
  /** Undefined in a tool that is not saved yet. */
  templateRules: z.literal(TEMPLATE_RULES).optional(),
  parameters: z.record(z.string(), StoredParameter),
  /** Replaces the schema derived from the parameters, to express what types, enums and limits cannot express. */
  inputSchema: z.record(z.string(), z.json()).optional(),
  outputSchema: z.record(z.string(), z.json()).optional(),
  annotations: ToolAnnotations.optional(),
  /** Origins that a secret may be sent to if a parameter decides the origin. If set, the tool calls no other origin. */
  allowedOrigins: z.array(z.string()).optional(),
  /** Changes made to the tool's results before they are sent. */
  response: StoredResponse.optional(),
  /** How to get the next page of results, if the response has a cursor for it. */
  pagination: Pagination.optional(),
  /** How long a result is cached for identical requests, in seconds. Only for read-only tools. */
  cacheSeconds: z.int().optional(),
  /** Whether all callers share cached results. If not, each caller has a separate cache. */
  cacheShared: z.boolean().optional(),
})

/** A tool as defined by its builder: an HTTP request template and the metadata of its parameters. */
export type ToolDefinition = z.infer<typeof ToolDocument> & {
  name: string
  title?: string | undefined
  description?: string | undefined
}

export type Tool = ToolDefinition & {
  id: string
  toolkitId: string
  /** In a snapshot, the id of the original tool. */
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
