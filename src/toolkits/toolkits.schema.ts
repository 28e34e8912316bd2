import { z } from 'zod'
import { readOnlyField, readOnlyTimes, timeSchema } from '../platform/http/index.ts'

/** Names of tools, as MCP clients take them: 1 to 64 of A-Z a-z 0-9 _ - */
const toolName = z.string().regex(/^[A-Za-z0-9_-]{1,64}$/, 'must be 1 to 64 characters of A-Z, a-z, 0-9, _ and -')

const jsonObject = z.record(z.string(), z.json())

const parameterMeta = z
  .strictObject({
    description: z.string().max(2_000).optional(),
    enum: z.array(z.json()).min(1).max(500).optional(),
    default: z.json().optional(),
    example: z.json().optional(),
    minimum: z.number().optional(),
    maximum: z.number().optional(),
    pattern: z.string().min(1).max(1_000).optional(),
    // What an answer adds to each parameter: taken back unread, so that a tool can be sent as it came.
    type: z.unknown().optional(),
    required: z.unknown().optional(),
    places: z.unknown().optional(),
  })
  .transform(({ type: _type, required: _required, places: _places, ...meta }) => meta)

/** Whether the text is http or https, a host, perhaps a port, and nothing else. */
const isOrigin = (text: string): boolean => {
  const url = URL.canParse(text) ? new URL(text) : undefined
  return url !== undefined && /^https?:$/.test(url.protocol) && `${url.origin}/` === url.href
}

const origin = z
  .string()
  .refine(isOrigin, 'must be an origin such as https://api.example.com')
  .transform(text => new URL(text).origin)

export const CreateTool = z.strictObject({
  name: toolName,
  title: z.string().trim().min(1).max(200).optional(),
  description: z.string().max(10_000).optional(),
  method: z
    .string()
    .trim()
    .min(1)
    .max(20)
    .transform(text => text.toUpperCase()),
  url: z.string().min(1).max(8_192),
  headers: z
    .array(z.strictObject({ name: z.string().max(256), value: z.string().max(8_192) }))
    .max(100)
    .default([]),
  body: z.string().max(1_000_000).optional(),
  // The most is a setting: the service knows it.
  timeoutMs: z.int().min(1).optional(),
  parameters: z.record(z.string(), parameterMeta).default({}),
  inputSchema: jsonObject
    .optional()
    .describe('JSON Schema 2020-12 of the arguments, instead of the one that the parameters make'),
  outputSchema: jsonObject.optional(),
  annotations: z
    .strictObject({
      title: z.string().max(200).optional(),
      readOnlyHint: z.boolean().optional(),
      destructiveHint: z.boolean().optional(),
      idempotentHint: z.boolean().optional(),
      openWorldHint: z.boolean().optional(),
    })
    .optional(),
  allowedOrigins: z.array(origin).max(100).optional(),
})

/** In a change, `null` takes an optional field away and what is left out stays. */
export const UpdateTool = z.strictObject({
  id: readOnlyField,
  toolkitId: readOnlyField,
  ...readOnlyTimes,
  name: CreateTool.shape.name.optional(),
  title: CreateTool.shape.title.nullable(),
  description: CreateTool.shape.description.nullable(),
  method: CreateTool.shape.method.optional(),
  url: CreateTool.shape.url.optional(),
  headers: CreateTool.shape.headers.unwrap().optional(),
  body: CreateTool.shape.body.nullable(),
  timeoutMs: CreateTool.shape.timeoutMs.nullable(),
  parameters: CreateTool.shape.parameters.unwrap().optional(),
  inputSchema: CreateTool.shape.inputSchema.nullable(),
  outputSchema: CreateTool.shape.outputSchema.nullable(),
  annotations: CreateTool.shape.annotations.nullable(),
  allowedOrigins: CreateTool.shape.allowedOrigins.nullable(),
})

const visibility = z.enum(['private', 'public'])

export const CreateToolkit = z.strictObject({
  title: z.string().trim().min(1).max(200),
  description: z.string().max(10_000).optional(),
  visibility: visibility.default('private'),
  organizationId: z.uuid().optional(),
})

export const UpdateToolkit = z.strictObject({
  id: readOnlyField,
  organizationId: readOnlyField,
  ...readOnlyTimes,
  title: CreateToolkit.shape.title.optional(),
  description: CreateToolkit.shape.description.nullable(),
  visibility: visibility.optional(),
})

const times = { createdAt: timeSchema, updatedAt: timeSchema }

export const ToolkitView = z.object({
  id: z.string(),
  organizationId: z.string(),
  title: z.string(),
  description: z.string().nullable(),
  visibility,
  ...times,
})

const ParameterView = z.object({
  type: z.string(),
  required: z.boolean(),
  places: z.array(z.object({ kind: z.string(), field: z.string(), line: z.int(), column: z.int() })),
  description: z.string().optional(),
  enum: z.array(z.json()).optional(),
  default: z.json().optional(),
  example: z.json().optional(),
  minimum: z.number().optional(),
  maximum: z.number().optional(),
  pattern: z.string().optional(),
})

export const ToolView = z.object({
  id: z.string(),
  toolkitId: z.string(),
  name: z.string(),
  title: z.string().nullable(),
  description: z.string().nullable(),
  method: z.string(),
  url: z.string(),
  headers: z.array(z.object({ name: z.string(), value: z.string() })),
  body: z.string().nullable(),
  timeoutMs: z.int().nullable(),
  parameters: z.record(z.string(), ParameterView),
  inputSchema: jsonObject.nullable(),
  outputSchema: jsonObject.nullable(),
  annotations: z.record(z.string(), z.union([z.string(), z.boolean()])).nullable(),
  allowedOrigins: z.array(z.string()).nullable(),
  ...times,
})
