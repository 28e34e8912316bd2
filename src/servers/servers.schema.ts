import { z } from 'zod'
import { readOnlyField, readOnlyTimes, timeSchema } from '../platform/http/index.ts'
import { ACCESS_TIERS } from './server.ts'

const access = z.enum(ACCESS_TIERS)
// The other presentations join with the steps that serve them.
const presentation = z.enum(['flat'])

export const CreateServer = z.strictObject({
  name: z.string().trim().min(1).max(200),
  description: z.string().max(10_000).optional(),
  access: access.default('private'),
  allowedUsers: z
    .array(z.string().min(1).max(254))
    .max(1_000)
    .default([])
    .describe('ids or e-mail addresses of users whom the owner of a private server lets in'),
  presentation: presentation.default('flat'),
  organizationId: z.uuid().optional(),
})

export const UpdateServer = z.strictObject({
  id: readOnlyField,
  uuid: readOnlyField,
  organizationId: readOnlyField,
  ownerId: readOnlyField,
  url: readOnlyField,
  ...readOnlyTimes,
  name: CreateServer.shape.name.optional(),
  description: CreateServer.shape.description.nullable(),
  access: access.optional(),
  allowedUsers: CreateServer.shape.allowedUsers.unwrap().optional(),
  presentation: presentation.optional(),
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
  url: z.url().describe('where MCP clients connect'),
  ...times,
})

export const UsedToolkitView = z.object({
  id: z.string(),
  title: z.string(),
  snapshot: z
    .object({
      takenAt: timeSchema,
      update: z
        .object({ added: z.array(z.string()), changed: z.array(z.string()), removed: z.array(z.string()) })
        .nullable()
        .describe('names of tools that accepting the waiting update would touch'),
    })
    .nullable()
    .describe("of another organization's toolkit"),
  ...times,
})

export const PutGlobal = z.strictObject({ value: z.string().max(100_000), secret: z.boolean().optional() })

export const GlobalView = z.union([
  z.object({ id: z.string(), key: z.string(), value: z.string(), secret: z.literal(false), ...times }),
  z.object({ id: z.string(), key: z.string(), secret: z.literal(true), ...times }),
])

const binding = z.discriminatedUnion('source', [
  z.strictObject({ source: z.literal('instance'), value: z.json() }),
  z.strictObject({ source: z.literal('server'), value: z.string().min(1).max(64).nullish() }),
  z.strictObject({ source: z.literal('exposed'), value: z.null().optional() }),
])
export type BindingInput = z.infer<typeof binding>

const instanceName = z
  .string()
  .regex(/^[A-Za-z0-9_-]{1,64}$/, 'must be 1 to 64 characters of A-Z, a-z, 0-9, _ and -')
  .refine(name => !name.startsWith('proxy_'), 'must not begin with proxy_, which is reserved')

export const CreateInstance = z.strictObject({
  toolId: z.uuid(),
  name: instanceName,
  description: z.string().max(10_000).optional(),
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
  description: CreateInstance.shape.description.nullable(),
  bindings: CreateInstance.shape.bindings.unwrap().optional(),
})

export const InstanceView = z.object({
  id: z.string(),
  serverId: z.string(),
  toolId: z.string(),
  name: z.string(),
  description: z.string().nullable(),
  bindings: z.record(z.string(), z.object({ source: z.string(), value: z.json().optional() })),
  inputSchema: z.record(z.string(), z.json()),
  ...times,
})

export const BindingRow = z.object({
  parameter: z.string(),
  type: z.string(),
  instances: z.array(z.object({ id: z.string(), name: z.string(), source: z.string(), value: z.json().optional() })),
})
