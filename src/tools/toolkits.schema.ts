import { z } from 'zod'
import { readOnlyField, readOnlyTimes } from '../lib/http/pages/read-only.ts'
import { absentable, absentableFields, nameUpTo, nullishFields, orNull, timeSchema } from '../lib/http/schemas.ts'
import { isOrigin, TOOL_NAME, TOOL_NAME_RULE } from '../lib/kernel/names.ts'
import { cacheRules } from './response/cache-rules.ts'
import { Pagination } from './response/pagination.ts'
import { ResponseRules } from './response/response-rules.ts'
import { retryRules } from './retry-rules.ts'
import { StoredParameter, ToolAnnotations, ToolDocument } from './tool.ts'

const toolName = z.string().regex(TOOL_NAME, TOOL_NAME_RULE)

const jsonObject = z.record(z.string(), z.json())

const parameterMeta = z
  .strictObject({
    ...StoredParameter.shape,
    description: z.string().max(2_000).optional(),
    enum: z.array(z.json()).min(1).max(500).optional(),
    pattern: z.string().min(1).max(1_000).optional(),
    // Responses add these fields to each parameter. Requests may contain them, so that a tool can be sent back as
    // received, but they are ignored.
    type: z.unknown().optional(),
    required: z.unknown().optional(),
    places: z.unknown().optional(),
  })
  .transform(({ type: _type, required: _required, places: _places, ...meta }) => meta)

const origin = z
  .string()
  .refine(isOrigin, 'must be an origin such as https://api.example.com')
  .transform(text => new URL(text).origin)

const TIME_RULE = 'must be a whole number of milliseconds, at least 1, such as 30,000'

const MAX_PRICE = 1_000_000
const PRICE_RULE = 'must be a number from 0 to 1,000,000, such as 0.005'

/** Optional fields. The sizes of fields with placeholders are checked when the template is compiled. */
const optional = {
  title: z.string().trim().min(1).max(200),
  description: z.string().max(10_000, 'is longer than 10,000 characters'),
  body: z.string(),
  // The service checks the maximum, which is configurable.
  timeoutMs: z.int(TIME_RULE).min(1, TIME_RULE),
  ...retryRules,
  callPrice: z
    .number(PRICE_RULE)
    .min(0, PRICE_RULE)
    .max(MAX_PRICE, PRICE_RULE)
    .describe('what a call costs, in a currency of your choice; counted by limits of money'),
  inputSchema: jsonObject.describe(
    'JSON Schema 2020-12 of the arguments; replaces the one derived from the parameters',
  ),
  outputSchema: jsonObject,
  annotations: z.strictObject({ ...ToolAnnotations.shape, title: z.string().max(200).optional() }),
  allowedOrigins: z.array(origin).max(100),
  response: ResponseRules,
  pagination: Pagination,
  ...cacheRules,
}

export const CreateTool = z.strictObject({
  name: toolName,
  method: z
    .string()
    .trim()
    .min(1)
    .max(20)
    .transform(text => text.toUpperCase()),
  url: z.string().min(1),
  headers: z.array(z.strictObject({ name: z.string(), value: z.string() })).default([]),
  parameters: z.record(z.string(), parameterMeta).default({}),
  ...absentableFields(optional),
})

/** In an update, null removes an optional field and a missing field keeps its value. */
export const UpdateTool = z.strictObject({
  id: readOnlyField,
  toolkitId: readOnlyField,
  problem: readOnlyField,
  ...readOnlyTimes,
  name: CreateTool.shape.name.optional(),
  method: CreateTool.shape.method.optional(),
  url: CreateTool.shape.url.optional(),
  headers: CreateTool.shape.headers.unwrap().optional(),
  parameters: CreateTool.shape.parameters.unwrap().optional(),
  ...nullishFields(optional),
})

const visibility = z.enum(['private', 'public'], 'must be private or public')

export const CreateToolkit = z.strictObject({
  title: nameUpTo(200),
  description: absentable(optional.description),
  visibility: visibility.default('private'),
  organizationId: z.uuid().optional(),
})
export type NewToolkit = z.infer<typeof CreateToolkit>

export const UpdateToolkit = z.strictObject({
  id: readOnlyField,
  organizationId: readOnlyField,
  ...readOnlyTimes,
  title: CreateToolkit.shape.title.optional(),
  description: optional.description.nullish(),
  visibility: visibility.optional(),
})
export type ToolkitPatch = z.infer<typeof UpdateToolkit>

export const TransferToolkit = z.strictObject({
  organizationId: z.uuid().describe('the new organization; you must be able to build in it'),
})

const times = { createdAt: timeSchema, updatedAt: timeSchema }

export const ToolkitView = z.object({
  id: z.string(),
  organizationId: z.string(),
  title: z.string(),
  description: orNull(z.string()),
  visibility,
  ...times,
})

const ParameterView = z.object({
  type: z.string(),
  required: z.boolean(),
  places: z.array(
    z.object({
      kind: z.string(),
      name: z
        .string()
        .optional()
        .describe('the header, query parameter, cookie, form field or member that contains it'),
      field: z.string(),
      line: z.int(),
      column: z.int(),
      serialization: z.string().optional(),
    }),
  ),
  ...StoredParameter.shape,
})

export const ToolView = z.object({
  id: z.string(),
  toolkitId: z.string(),
  name: z.string(),
  title: orNull(z.string()),
  description: orNull(z.string()),
  ...ToolDocument.pick({ method: true, url: true, headers: true }).shape,
  body: orNull(z.string()),
  timeoutMs: orNull(z.int()),
  retries: orNull(z.int()).describe('null: none'),
  callPrice: orNull(z.number()),
  parameters: z.record(z.string(), ParameterView),
  inputSchema: orNull(jsonObject),
  outputSchema: orNull(jsonObject),
  annotations: orNull(optional.annotations),
  allowedOrigins: orNull(z.array(z.string())),
  response: orNull(ResponseRules),
  pagination: orNull(Pagination),
  cacheSeconds: orNull(z.int()),
  cacheShared: orNull(z.boolean()),
  problem: orNull(z.string()).describe('why the tool cannot be added to a server until it is fixed'),
  ...times,
})
