import { z } from 'zod'
import { readOnlyField, readOnlyTimes } from '../lib/http/pages/read-only.ts'
import { absentable, nameUpTo, timeSchema } from '../lib/http/schemas.ts'
import { RESERVED_TOOL_PREFIX, TOOL_NAME, TOOL_NAME_RULE } from '../lib/kernel/names.ts'
import { responseTokens } from '../tools/response/response-tokens.ts'
import { contextShape, createContextShape, updateContextShape } from './context-rules.ts'
import { ACCESS_TIERS, PRESENTATIONS } from './server.ts'
import { ShownAsView } from './settings/shown-as.ts'

/** Whom a server lets in by name: more are an organization. */
export const MAX_ALLOWED_USERS = 1_000

const access = z.enum(ACCESS_TIERS)
const presentation = z
  .enum(PRESENTATIONS)
  .describe(
    'how clients see the tools: each by itself, in groups behind two tools, behind a search, by itself or behind a search by what they cost, or those of one upstream passed through',
  )

const reviewUpstreamChanges = z
  .boolean()
  .describe('whether changed and new tools of its upstreams wait until they are approved')

const description = z.string().max(10_000, 'is longer than 10,000 characters')

export const CreateServer = z.strictObject({
  name: nameUpTo(200),
  description: absentable(description),
  access: access.default('private'),
  allowedUsers: z
    .array(z.string().min(1).max(254))
    .max(MAX_ALLOWED_USERS)
    .default([])
    .describe(
      'ids or e-mail addresses of users whom the owner of a private server lets in; who is no member must have confirmed the address, where mail is sent',
    ),
  presentation: presentation.default('flat'),
  reviewUpstreamChanges: reviewUpstreamChanges.default(false),
  ...createContextShape,
  organizationId: z.uuid().optional(),
})

export const UpdateServer = z.strictObject({
  id: readOnlyField,
  uuid: readOnlyField,
  organizationId: readOnlyField,
  ownerId: readOnlyField,
  url: readOnlyField,
  shownAs: readOnlyField,
  ...readOnlyTimes,
  name: CreateServer.shape.name.optional(),
  description: description.nullish(),
  access: access.optional(),
  allowedUsers: CreateServer.shape.allowedUsers.unwrap().optional(),
  presentation: presentation.optional(),
  reviewUpstreamChanges: reviewUpstreamChanges.optional(),
  ...updateContextShape,
})

export const TransferServer = z.strictObject({
  organizationId: z.uuid().describe('where it goes: one that you may build in'),
  ownerId: z
    .uuid()
    .optional()
    .describe('a member there who may build; left out: the owner until now if they may, else you'),
})

const times = { createdAt: timeSchema, updatedAt: timeSchema }

export const ServerView = z.object({
  id: z.string(),
  uuid: z.string(),
  organizationId: z.string(),
  ownerId: z.string(),
  name: z.string(),
  description: z.string().nullable(),
  access,
  allowedUsers: z.array(z.string()),
  presentation: z.string(),
  reviewUpstreamChanges,
  ...contextShape,
  shownAs: ShownAsView.nullable().describe(
    'what the presentation auto has come to, and why; null with every other, and in lists',
  ),
  url: z.url().describe('where MCP clients connect'),
  ...times,
})

const ToolChange = z.object({
  name: z.string(),
  fields: z.array(z.string()).describe('what differs, such as url'),
  changes: z
    .array(z.object({ field: z.string(), from: z.json(), to: z.json() }))
    .describe('each of the fields as it is and as it would be; null where there is none'),
})

export const UseToolkitQuery = z.object({
  version: z.string().max(64).optional().describe("of the waiting update that was looked at; another one's is refused"),
})

export const UsedToolkitView = z.object({
  id: z.string(),
  title: z.string(),
  snapshot: z
    .object({
      takenAt: timeSchema,
      update: z
        .object({
          version: z.string().describe('to be sent along when the update is accepted'),
          added: z.array(z.string()),
          changed: z.array(ToolChange),
          removed: z.array(z.string()),
        })
        .nullable()
        .describe('tools that accepting the waiting update would add, change and remove'),
    })
    .nullable()
    .describe("of another organization's toolkit"),
  ...times,
})

export const PutGlobal = z.strictObject({
  // Its size depends on whether it is a secret, which the service knows.
  value: z.union([z.string(), z.number(), z.boolean()]).transform(String),
  secret: z.boolean().optional(),
})

export const GlobalView = z.union([
  z.object({ id: z.string(), key: z.string(), value: z.string(), secret: z.literal(false), ...times }),
  z.object({ id: z.string(), key: z.string(), secret: z.literal(true), ...times }),
])

const binding = z.discriminatedUnion('source', [
  z.strictObject({ source: z.literal('instance'), value: z.json('is missing: give the fixed value') }),
  z.strictObject({ source: z.literal('server'), value: z.string().min(1).max(64).nullish() }),
  z.strictObject({ source: z.literal('exposed'), value: z.null().optional() }),
])
export type BindingInput = z.infer<typeof binding>

const instanceName = z
  .string()
  .regex(TOOL_NAME, TOOL_NAME_RULE)
  .refine(name => !name.startsWith(RESERVED_TOOL_PREFIX), 'must not begin with proxy_, which is reserved')

const instanceTokens = responseTokens.describe(
  "tokens of its answers that are sent at most, in place of the server's; 0: all; a tool with an output schema is cut only where this says so, and then shown without it",
)

export const CreateInstance = z.strictObject({
  toolId: z.uuid(),
  name: instanceName,
  description: absentable(description),
  maxResponseTokens: instanceTokens.nullable().default(null),
  bindings: z.record(z.string().max(64), binding).default({}),
})

export const UpdateInstance = z.strictObject({
  id: readOnlyField,
  serverId: readOnlyField,
  // Follows from tool and bindings.
  inputSchema: readOnlyField,
  ...readOnlyTimes,
  toolId: CreateInstance.shape.toolId.optional(),
  name: instanceName.optional(),
  description: description.nullish(),
  maxResponseTokens: instanceTokens.nullish(),
  bindings: CreateInstance.shape.bindings.unwrap().optional().describe('takes the place of all bindings there are'),
})

export const InstanceView = z.object({
  id: z.string(),
  serverId: z.string(),
  toolId: z.string(),
  name: z.string(),
  description: z.string().nullable(),
  maxResponseTokens: z.int().nullable(),
  bindings: z.record(z.string(), z.object({ source: z.string(), value: z.json().optional() })),
  inputSchema: z.record(z.string(), z.json()),
  ...times,
})

export const BindingRow = z.object({
  parameter: z.string(),
  type: z.string(),
  instances: z.array(z.object({ id: z.string(), name: z.string(), source: z.string(), value: z.json().optional() })),
})
