import { z } from 'zod'
import type { RequestTemplate } from '../templates/template.ts'
import { StoredResponse } from './response/response-rules.ts'
import type { ToolDefinition } from './tool.ts'

/**
 * The document in `Tool.definition`, with everything that no query needs. Parsed on reading, so that an invalid row
 * fails there.
 */
const Stored = z.object({
  method: z.string(),
  url: z.string(),
  headers: z.array(z.object({ name: z.string(), value: z.string() })),
  body: z.string().optional(),
  timeoutMs: z.int().optional(),
  parameters: z.record(
    z.string(),
    z.object({
      description: z.string().optional(),
      enum: z.array(z.json()).optional(),
      default: z.json().optional(),
      example: z.json().optional(),
      minimum: z.number().optional(),
      maximum: z.number().optional(),
      pattern: z.string().optional(),
    }),
  ),
  inputSchema: z.record(z.string(), z.json()).optional(),
  outputSchema: z.record(z.string(), z.json()).optional(),
  annotations: z
    .object({
      title: z.string().optional(),
      readOnlyHint: z.boolean().optional(),
      destructiveHint: z.boolean().optional(),
      idempotentHint: z.boolean().optional(),
      openWorldHint: z.boolean().optional(),
    })
    .optional(),
  allowedOrigins: z.array(z.string()).optional(),
  response: StoredResponse.optional(),
  cacheSeconds: z.int().optional(),
  cacheShared: z.boolean().optional(),
})

const StoredTemplate = Stored.pick({ method: true, url: true, headers: true, body: true })

/** Parses only the request template: parsing all of 2,000 definitions takes several times as long. */
export const templateOf = (definition: unknown): RequestTemplate => StoredTemplate.parse(definition)

/** Parses everything of a definition but name, title and description. */
export const parseDocument = (definition: unknown) => Stored.parse(definition)

export const toStored = (definition: ToolDefinition) => {
  const { name, title, description, ...document } = definition
  // Parsing drops undefined values and unknown keys.
  return {
    name,
    title: title ?? null,
    description: description ?? null,
    definition: JSON.parse(JSON.stringify(Stored.parse(document))),
  }
}
