import { z } from 'zod'
import { readOnlyField, readOnlyTimes } from '../lib/http/pages/read-only.ts'
import { absentable, nameUpTo, orNull, timeSchema } from '../lib/http/schemas.ts'
import { RESERVED_TOOL_PREFIX, TOOL_NAME, TOOL_NAME_RULE } from '../lib/kernel/names.ts'
import { parseOriginPattern } from '../lib/outbound/credentials.ts'
import { responseTokens } from '../tools/response/response-tokens.ts'
import { contextShape, createContextShape } from './context-rules.ts'
import { maskingRules, maskingRulesView } from './masking/masking-rules.ts'
import { ACCESS_TIERS, PRESENTATIONS } from './server.ts'
import { ShownAsView } from './settings/shown-as.ts'

/** Maximum number of users allowed by name on a server. Larger groups can use the organization tier. */
export const MAX_ALLOWED_USERS = 1_000

const access = z.enum(ACCESS_TIERS)
const presentation = z
  .enum(PRESENTATIONS)
  .describe(
    'how clients see the tools: flat (all tools), grouped (two tools that describe and call the others), search (tools that find and call the others), auto (flat or search, depending on the token cost), or passthrough (the tools of one MCP server)',
  )

const allowAnyOrigin = z
  .boolean()
  .describe(
    'whether pages of any website may call the public server; servers that require a token allow it anyway; false again once the server is no longer public',
  )

const reviewUpstreamChanges = z.boolean().describe('whether new and changed tools of its MCP servers need approval')

const storesBodies = z
  .boolean()
  .describe('whether the request and response bodies of new calls are stored, masked and encrypted, with the history')

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
      'ids or email addresses of users who may use a private server; users who are not members need a confirmed address if email is configured',
    ),
  presentation: presentation.default('flat'),
  allowAnyOrigin: allowAnyOrigin.default(false),
  reviewUpstreamChanges: reviewUpstreamChanges.default(false),
  ...createContextShape,
  storesBodies: storesBodies.default(false),
  masking: maskingRules.default([]),
  organizationId: z.uuid().optional(),
})
/** `id` is set to create a server at a given address. */
export type ServerInput = z.input<typeof CreateServer> & { id?: string | undefined }

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
  allowAnyOrigin: allowAnyOrigin.optional(),
  reviewUpstreamChanges: reviewUpstreamChanges.optional(),
  ...z.object(contextShape).partial().shape,
  storesBodies: storesBodies.optional(),
  masking: maskingRules.optional(),
})
export type ServerChanges = z.infer<typeof UpdateServer>

export const TransferServer = z.strictObject({
  organizationId: z.uuid().describe('the new organization; you must be able to build in it'),
  ownerId: z
    .uuid()
    .optional()
    .describe('a member of that organization who may build; default: the current owner if possible, otherwise you'),
})

const times = { createdAt: timeSchema, updatedAt: timeSchema }

export const ServerView = z.object({
  id: z.string(),
  uuid: z.string(),
  organizationId: z.string(),
  ownerId: z.string(),
  name: z.string(),
  description: orNull(z.string()),
  access,
  allowedUsers: z.array(z.string()),
  presentation: z.string(),
  allowAnyOrigin,
  reviewUpstreamChanges,
  ...contextShape,
  storesBodies,
  masking: maskingRulesView,
  cutNotice: orNull(contextShape.cutNotice),
  shownAs: orNull(ShownAsView).describe(
    'the presentation that auto selected, and why; null for other presentations and in lists',
  ),
  url: z.url().describe('the URL that MCP clients connect to'),
  ...times,
})

/** A private server, to members who may not use it. */
const ClosedServerView = z.object({
  id: z.string(),
  uuid: z.string(),
  organizationId: z.string(),
  ownerId: z.string(),
  name: z.string(),
  access: z.literal('private'),
  closed: z
    .literal(true)
    .describe('you may not use this server; ask for access with POST /servers/:uuid/access-requests'),
})

/** A server, or the fields that everyone in its organization can see. */
export const SeenServerView = z.union([ServerView, ClosedServerView])

export const AccessRequestView = z.object({
  id: z.string(),
  userId: z.string(),
  email: z.string(),
  createdAt: timeSchema,
  updatedAt: timeSchema,
})

const ToolChange = z.object({
  name: z.string(),
  fields: z.array(z.string()).describe('names of the changed fields, such as url'),
  changes: z
    .array(z.object({ field: z.string(), from: z.json(), to: z.json() }))
    .describe('current and new value of each field; null if it has none'),
})

export const UseToolkitQuery = z.object({
  version: z
    .string()
    .max(64)
    .optional()
    .describe('version of the pending update that was reviewed; rejected if the toolkit has changed since'),
})

export const UsedToolkitView = z.object({
  id: z.string(),
  title: z.string(),
  snapshot: orNull(
    z.object({
      takenAt: timeSchema,
      update: orNull(
        z.object({
          version: z.string().describe('version to send when accepting the update'),
          added: z.array(z.string()),
          changed: z.array(ToolChange),
          removed: z.array(z.string()),
        }),
      ).describe('tools that accepting the pending update would add, change and remove'),
    }),
  ).describe('the snapshot, for a toolkit of another organization'),
  ...times,
})

const ORIGIN_RULE = 'must be an origin such as https://api.example.com, or https://*.example.com for any name before it'

const originPattern = z
  .string()
  .refine(text => parseOriginPattern(text) !== undefined, ORIGIN_RULE)
  .transform(text => parseOriginPattern(text) ?? text)

/** A list of origins as people type it, one per line. */
export const originLines = z
  .string()
  .transform(text => text.split(/\s+/).filter(line => line !== ''))
  .pipe(z.array(originPattern))

export const PutGlobal = z.strictObject({
  // The service checks the size, because secrets have a different limit.
  value: z
    .union([z.string(), z.number(), z.boolean()])
    .transform(String)
    .optional()
    .describe('required, unless only the origins of a secret change'),
  secret: z.boolean().optional(),
  origins: z
    .array(originPattern)
    .nullish()
    .describe(
      'the origins that a secret may be sent to, such as https://api.example.com or https://*.example.com; without them, the first binding by an admin, the owner of the server or whoever stored the secret sets them, and null lets the next binding do so',
    ),
})

export const GlobalView = z.union([
  z.object({ id: z.string(), key: z.string(), value: z.string(), secret: z.literal(false), ...times }),
  z.object({
    id: z.string(),
    key: z.string(),
    secret: z.literal(true),
    origins: orNull(z.array(z.string())).describe('the origins that it may be sent to; null if they are not set yet'),
    ...times,
  }),
])

const binding = z.discriminatedUnion('source', [
  z.strictObject({ source: z.literal('instance'), value: z.json('is required: enter the fixed value') }),
  z.strictObject({ source: z.literal('server'), value: z.string().min(1).max(64).nullish() }),
  z.strictObject({ source: z.literal('exposed'), value: z.null().optional() }),
])

const instanceName = z
  .string()
  .regex(TOOL_NAME, TOOL_NAME_RULE)
  .refine(name => !name.startsWith(RESERVED_TOOL_PREFIX), 'must not start with proxy_, which is reserved')

const instanceTokens = responseTokens.describe(
  "most tokens of its results that are sent, instead of the server's limit; 0 for no limit; a tool with an output schema is only cut if this is set, and is then listed without the schema",
)

const instanceEnabled = z
  .boolean()
  .describe('whether clients see the tool; calls of a disabled tool are refused with an error that says so')

export const CreateInstance = z.strictObject({
  toolId: z.uuid(),
  name: instanceName,
  description: absentable(description),
  maxResponseTokens: instanceTokens.nullable().default(null),
  enabled: instanceEnabled.default(true),
  bindings: z
    .record(z.string().max(64), binding)
    .default({})
    .describe("a parameter without one has the tool's default binding, if there is one, and else comes from the model"),
})

export const UpdateInstance = z.strictObject({
  id: readOnlyField,
  serverId: readOnlyField,
  // Derived from the tool and its bindings.
  inputSchema: readOnlyField,
  ...readOnlyTimes,
  toolId: CreateInstance.shape.toolId.optional(),
  name: instanceName.optional(),
  description: description.nullish(),
  maxResponseTokens: instanceTokens.nullish(),
  enabled: instanceEnabled.optional(),
  bindings: CreateInstance.shape.bindings
    .unwrap()
    .optional()
    .describe(
      "replaces all existing bindings; a parameter that was bound and is left out has the tool's default binding again",
    ),
})

export const InstanceView = z.object({
  id: z.string(),
  serverId: z.string(),
  toolId: z.string(),
  name: z.string(),
  description: orNull(z.string()),
  maxResponseTokens: orNull(z.int()),
  enabled: instanceEnabled,
  bindings: z.record(z.string(), z.object({ source: z.string(), value: z.json().optional() })),
  inputSchema: z.record(z.string(), z.json()),
  ...times,
})

export const BindingRow = z.object({
  parameter: z.string(),
  type: z.string(),
  instances: z.array(z.object({ id: z.string(), name: z.string(), source: z.string(), value: z.json().optional() })),
})
