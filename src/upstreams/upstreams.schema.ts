import { z } from 'zod'
import { readOnlyField, readOnlyTimes } from '../lib/http/pages/read-only.ts'
import { absentable, timeSchema } from '../lib/http/schemas.ts'
import { RESERVED_TOOL_PREFIX, TOOL_NAME, TOOL_NAME_RULE } from '../lib/kernel/names.ts'
import { responseTokens } from '../tools/response/response-tokens.ts'
import { authView, authWish } from './auth.schema.ts'
import { ToolAnswersRules } from './catalogue/tool-answers.ts'
import { MAX_MORE_URLS, MAX_NAMED_TOOLS, MAX_PATTERN_CHARS, MAX_PATTERNS } from './limits.ts'
import { UPSTREAM_TRANSPORTS } from './upstream.ts'

/** Tool names and URIs begin with it; `proxy_` is what our own tools are called. */
const prefix = z
  .string()
  .regex(TOOL_NAME, TOOL_NAME_RULE)
  .refine(
    text => text !== 'proxy' && !text.startsWith(RESERVED_TOOL_PREFIX),
    'must not be or begin as proxy_, which is reserved',
  )

/** Longer than any that a protocol allows. */
const MAX_TOOL_NAME_CHARS = 300

const isShort = (byName: object): boolean => Object.keys(byName).length <= MAX_NAMED_TOOLS
const TOO_MANY = `names more than ${MAX_NAMED_TOOLS} tools`

const description = z.string().max(10_000, 'is longer than 10,000 characters')

const pattern = z
  .string()
  .min(1, 'is empty')
  .max(MAX_PATTERN_CHARS, `is longer than ${MAX_PATTERN_CHARS} characters`)
  .regex(/^[^\p{Cc}\s]+$/u, 'is no pattern of a tool name: it holds blanks or control characters')
const patterns = z
  .array(pattern)
  .max(MAX_PATTERNS, `is one too many: ${MAX_PATTERNS} at most`)
  .describe("patterns of the upstream's own tool names, * for any characters")

const texts = z.record(z.string(), z.string())

const features = z
  .strictObject({ tools: z.boolean().optional(), resources: z.boolean().optional(), prompts: z.boolean().optional() })
  .describe('each true unless false')

const TIME_RULE = 'must be a whole number of milliseconds from 1 on, such as 10,000'

/** Sizes and what the texts hold are checked with the configuration, by transport. */
const optional = {
  command: z.string().describe('of this machine, run without a shell; for the operator alone'),
  args: z.array(z.string()),
  env: texts.describe('all that the command gets of an environment'),
  cwd: z.string().describe('an absolute path'),
  url: z.string().describe('http or https, without credentials'),
  urls: z
    .array(z.string())
    .max(MAX_MORE_URLS, `are too many: ${MAX_MORE_URLS} at most`)
    .describe('more addresses of the same server, which a passthrough server spreads requests over'),
  headers: texts.describe('sent with every request'),
  auth: authWish,
  eager: z.boolean().describe('whether to connect at once, not with the first call'),
  features,
  allow: patterns,
  deny: patterns,
  // The most is a setting: the service knows it.
  timeoutMs: z.int(TIME_RULE).min(1, TIME_RULE),
  prefix: prefix.describe("before the names of its tools, in place of the upstream's name"),
  enabled: z.boolean(),
  responseTokens: z
    .record(z.string().max(MAX_TOOL_NAME_CHARS), responseTokens)
    .refine(isShort, TOO_MANY)
    .describe(
      "by the upstream's own tool names: tokens of an answer that are sent at most, in place of the server's; 0: all; a tool with an output schema is cut only where this says so, and then shown without it",
    ),
  toolAnswers: z
    .record(z.string().max(MAX_TOOL_NAME_CHARS), ToolAnswersRules)
    .refine(isShort, TOO_MANY)
    .describe(
      "by the upstream's own tool names: what is done with their answers before anybody gets them, and how long they are kept; a tool with an output schema is held to it after the last step",
    ),
}

const transport = z.enum(UPSTREAM_TRANSPORTS, `is none of ${UPSTREAM_TRANSPORTS.join(', ')}`)

export const CreateUpstream = z.strictObject({
  name: prefix,
  description: absentable(description),
  transport,
  command: absentable(optional.command),
  args: absentable(optional.args),
  env: absentable(optional.env),
  cwd: absentable(optional.cwd),
  url: absentable(optional.url),
  urls: absentable(optional.urls),
  headers: absentable(optional.headers),
  auth: absentable(optional.auth),
  eager: absentable(optional.eager),
  features: absentable(optional.features),
  allow: absentable(optional.allow),
  deny: absentable(optional.deny),
  timeoutMs: absentable(optional.timeoutMs),
  prefix: absentable(optional.prefix),
  enabled: absentable(optional.enabled),
  responseTokens: absentable(optional.responseTokens),
  toolAnswers: absentable(optional.toolAnswers),
})

/** In a change, `null` takes an optional field away and what is left out stays. */
export const UpdateUpstream = z.strictObject({
  id: readOnlyField,
  serverId: readOnlyField,
  ...readOnlyTimes,
  // What an answer adds, and what changes by itself.
  globals: readOnlyField,
  missingGlobals: readOnlyField,
  warnings: readOnlyField,
  state: readOnlyField,
  skipped: readOnlyField,
  name: prefix.optional(),
  description: description.nullish(),
  transport: transport.optional(),
  command: optional.command.nullish(),
  args: optional.args.nullish(),
  env: optional.env.nullish(),
  cwd: optional.cwd.nullish(),
  url: optional.url.nullish(),
  urls: optional.urls.nullish(),
  headers: optional.headers.nullish(),
  auth: optional.auth.nullish(),
  eager: optional.eager.nullish(),
  features: optional.features.nullish().describe('those that are not named stay as they are'),
  allow: optional.allow.nullish(),
  deny: optional.deny.nullish(),
  timeoutMs: optional.timeoutMs.nullish(),
  prefix: optional.prefix.nullish(),
  enabled: optional.enabled.optional(),
  responseTokens: optional.responseTokens.nullish(),
  toolAnswers: optional.toolAnswers.nullish(),
})

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
      item: z.string().describe('as the upstream has it'),
      name: z.string().describe('what it would be called'),
      reason: z.string(),
    }),
  )
  .describe('what clients do not see because something else has its name')

/** What came of asking an upstream for its lists. */
export const UpstreamOfferView = z.object({
  tools: z.array(z.string()).describe('names, as the upstream has them'),
  resources: z.array(z.string()).describe('URIs'),
  resourceTemplates: z.array(z.string()).describe('URI templates'),
  prompts: z.array(z.string()).describe('names, as the upstream has them'),
  flags: z
    .array(z.object({ kind: z.string(), item: z.string(), message: z.string() }))
    .describe('what was left out or cut, and what holds hidden characters'),
  skipped,
  fetchedAt: timeSchema,
})

export const UpstreamView = z.object({
  id: z.string(),
  serverId: z.string(),
  name: z.string(),
  description: z.string().nullable(),
  transport,
  command: z.string().nullable(),
  args: z.array(z.string()).nullable(),
  env: texts.nullable(),
  cwd: z.string().nullable(),
  url: z.string().nullable(),
  urls: z.array(z.string()).nullable(),
  headers: texts.nullable(),
  auth: authView,
  eager: z.boolean(),
  features: z.object({ tools: z.boolean(), resources: z.boolean(), prompts: z.boolean() }),
  allow: z.array(z.string()).nullable(),
  deny: z.array(z.string()).nullable(),
  timeoutMs: z.int(),
  prefix: z.string().nullable(),
  enabled: z.boolean(),
  responseTokens: z.record(z.string(), z.int()),
  toolAnswers: z.record(z.string(), ToolAnswersRules),
  globals: z.array(z.string()).describe('keys of the globals that it refers to'),
  missingGlobals: z.array(z.string()).describe('those of them that the server has not'),
  warnings: z.array(z.string()).describe('what a builder should know of where its secrets go'),
  state,
  skipped,
  createdAt: timeSchema,
  updatedAt: timeSchema,
})
