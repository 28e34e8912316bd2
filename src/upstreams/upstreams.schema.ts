import { z } from 'zod'
import { readOnlyField, readOnlyTimes } from '../lib/http/pages/read-only.ts'
import { absentable, absentableFields, nullishFields, orNull, timeSchema } from '../lib/http/schemas.ts'
import { RESERVED_TOOL_PREFIX, TOOL_NAME, TOOL_NAME_RULE } from '../lib/kernel/names.ts'
import { responseTokens } from '../tools/response/response-tokens.ts'
import { authInput, authView } from './auth.schema.ts'
import { ToolAnswersRules } from './catalogue/tool-answers.ts'
import { MAX_MORE_URLS, MAX_NAMED_TOOLS, MAX_PATTERN_CHARS, MAX_PATTERNS } from './limits.ts'
import { UPSTREAM_TRANSPORTS } from './upstream.ts'

/** Prefix for tool names and URIs. `proxy_` is reserved for Patchbay's own tools. */
const prefix = z
  .string()
  .regex(TOOL_NAME, TOOL_NAME_RULE)
  .refine(
    text => text !== 'proxy' && !text.startsWith(RESERVED_TOOL_PREFIX),
    'must not be proxy or start with proxy_, which is reserved',
  )

/** Longer than any protocol version allows. */
const MAX_TOOL_NAME_CHARS = 300

const byToolName = <Setting extends z.ZodType>(setting: Setting) =>
  z
    .record(z.string().max(MAX_TOOL_NAME_CHARS), setting)
    .refine(byName => Object.keys(byName).length <= MAX_NAMED_TOOLS, `must name at most ${MAX_NAMED_TOOLS} tools`)

const description = z.string().max(10_000, 'is longer than 10,000 characters')

const pattern = z
  .string()
  .min(1, 'is empty')
  .max(MAX_PATTERN_CHARS, `is longer than ${MAX_PATTERN_CHARS} characters`)
  .regex(/^[^\p{Cc}\s]+$/u, 'must not contain spaces or control characters')
const patterns = z
  .array(pattern)
  .max(MAX_PATTERNS, `must have at most ${MAX_PATTERNS} entries`)
  .describe("patterns for the MCP server's own tool names; * matches any characters")

const texts = z.record(z.string(), z.string())

const features = z
  .strictObject({ tools: z.boolean().optional(), resources: z.boolean().optional(), prompts: z.boolean().optional() })
  .describe('each is true by default')

const TIME_RULE = 'must be a whole number of milliseconds, at least 1, such as 10,000'

/** Lengths and contents are checked together with the whole configuration, because they depend on the transport. */
const optional = {
  command: z.string().describe('a command on this machine, run without a shell; only for the operator'),
  args: z.array(z.string()),
  env: texts.describe('the environment of the command'),
  cwd: z.string().describe('an absolute path'),
  url: z.string().describe('http or https, without credentials'),
  urls: z
    .array(z.string())
    .max(MAX_MORE_URLS, `must have at most ${MAX_MORE_URLS} entries`)
    .describe('further URLs of the same server, for load balancing on a passthrough server'),
  headers: texts.describe('sent with every request'),
  auth: authInput,
  eager: z.boolean().describe('whether to connect at once instead of with the first call'),
  features,
  allow: patterns,
  deny: patterns,
  // The maximum is configurable, so the service checks it.
  timeoutMs: z.int(TIME_RULE).min(1, TIME_RULE),
  prefix: prefix.describe("prefix of its tool names; by default the MCP server's name"),
  enabled: z.boolean(),
  responseTokens: byToolName(responseTokens).describe(
    "maximum tokens of a result, by the MCP server's own tool names, instead of the server's limit; 0 means no limit; the results of a tool with an output schema are only cut if the tool is listed here, and clients then see it without its schema",
  ),
  toolAnswers: byToolName(ToolAnswersRules).describe(
    "how results are shaped and cached, by the MCP server's own tool names; a shaped result must still match the tool's output schema",
  ),
}

const transport = z.enum(UPSTREAM_TRANSPORTS, `must be one of ${UPSTREAM_TRANSPORTS.join(', ')}`)

export const CreateUpstream = z.strictObject({
  name: prefix,
  description: absentable(description),
  transport,
  ...absentableFields(optional),
})

export type UpstreamInput = Pick<z.infer<typeof CreateUpstream>, 'name' | 'transport'> &
  Partial<z.infer<typeof CreateUpstream>>

/** Fields of an update. `null` resets an optional field, and a missing field stays unchanged. */
export const UpdateUpstream = z.strictObject({
  id: readOnlyField,
  serverId: readOnlyField,
  ...readOnlyTimes,
  // Response-only fields.
  globals: readOnlyField,
  missingGlobals: readOnlyField,
  warnings: readOnlyField,
  state: readOnlyField,
  skipped: readOnlyField,
  name: prefix.optional(),
  description: description.nullish(),
  transport: transport.optional(),
  ...nullishFields(optional),
  features: optional.features.nullish().describe('a missing feature stays unchanged'),
  enabled: optional.enabled.optional(),
})

export type UpstreamChange = z.infer<typeof UpdateUpstream>

const state = z.object({
  kind: z.enum(['idle', 'connecting', 'connected', 'failed', 'disabled']),
  why: z.string().optional(),
  since: timeSchema.optional(),
  nextTryAt: timeSchema.optional(),
})

const skipped = z
  .array(
    z.object({
      kind: z.enum(['tool', 'resource', 'template', 'prompt']),
      item: z.string().describe("the MCP server's own name for it"),
      name: z.string().describe('the name it would have'),
      reason: z.string(),
    }),
  )
  .describe('items that clients do not see because their name is taken')

/** The upstream's tools, resources and prompts after a refresh. */
export const UpstreamOfferView = z.object({
  tools: z.array(z.string()).describe("the MCP server's own names"),
  resources: z.array(z.string()).describe('URIs'),
  resourceTemplates: z.array(z.string()).describe('URI templates'),
  prompts: z.array(z.string()).describe("the MCP server's own names"),
  flags: z
    .array(z.object({ kind: z.string(), item: z.string(), message: z.string() }))
    .describe('items that were left out, were cut or contain hidden characters'),
  skipped,
  fetchedAt: timeSchema,
})

export const UpstreamView = z.object({
  id: z.string(),
  serverId: z.string(),
  name: z.string(),
  description: orNull(z.string()),
  transport,
  command: orNull(z.string()),
  args: orNull(z.array(z.string())),
  env: orNull(texts),
  cwd: orNull(z.string()),
  url: orNull(z.string()),
  urls: orNull(z.array(z.string())),
  headers: orNull(texts),
  auth: authView,
  eager: z.boolean(),
  features: z.object({ tools: z.boolean(), resources: z.boolean(), prompts: z.boolean() }),
  allow: orNull(z.array(z.string())),
  deny: orNull(z.array(z.string())),
  timeoutMs: z.int(),
  prefix: orNull(z.string()),
  enabled: z.boolean(),
  responseTokens: z.record(z.string(), z.int()),
  toolAnswers: z.record(z.string(), ToolAnswersRules),
  globals: z.array(z.string()).describe('keys of the globals that it uses'),
  missingGlobals: z.array(z.string()).describe('keys of the globals that it uses and the server does not have'),
  warnings: z.array(z.string()).describe('warnings about where its secrets are sent'),
  state,
  skipped,
  createdAt: timeSchema,
  updatedAt: timeSchema,
})
