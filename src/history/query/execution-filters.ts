import { z } from 'zod'
import { instantSchema } from '../../lib/http/schemas.ts'
import type { JsonObject } from '../../lib/kernel/json.ts'
import { definedFields } from '../../lib/kernel/missing.ts'
import { CALL_RESULTS } from '../call-result.ts'

/** Maximum number of values of a filter. */
const MAX_VALUES = 100
/** Maximum length of a tool name, a client name or a search text, in characters. */
const MAX_TEXT_CHARACTERS = 200
/** The filter value for calls without a user. */
export const ANONYMOUS = 'anonymous'

/** Accepts a query parameter once or repeatedly. */
const repeatable = <T extends z.ZodType>(item: T) =>
  z.preprocess(
    given => (given === undefined ? undefined : [given].flat()),
    z.array(item).max(MAX_VALUES, `has more than ${MAX_VALUES} values`).optional(),
  )

const STATUS_RULE = 'must be an HTTP status such as 404, or a class such as 4xx'
/** A status or a class of statuses, as the range that it covers. */
const statusRange = z
  .string()
  .regex(/^[1-5](\d\d|xx)$/i, STATUS_RULE)
  .transform(text => ({
    first: Number(text.toLowerCase().replaceAll('x', '0')),
    last: Number(text.toLowerCase().replaceAll('x', '9')),
  }))

/** The id of a user, or null for calls without a user. */
const caller = z
  .union([z.literal(ANONYMOUS), z.uuid()], `must be the id of a user, or ${ANONYMOUS}`)
  .transform(text => (text === ANONYMOUS ? null : text))

const text = z.string().min(1, 'is empty').max(MAX_TEXT_CHARACTERS, `is longer than ${MAX_TEXT_CHARACTERS} characters`)

/** The filters of calls, as query parameters. All given filters must match; of the values of one, any. */
export const filterFields = {
  server: repeatable(z.uuid('must be the id of a server')).describe('ids of servers; may be repeated'),
  tool: repeatable(text).describe('names of tools at the time of the call; may be repeated'),
  result: repeatable(z.enum(CALL_RESULTS)).describe('how calls ended; may be repeated'),
  outcome: z
    .enum(['ok', 'error'])
    .optional()
    .describe('`ok` for calls with the result `success`, `error` for all others'),
  status: repeatable(statusRange).describe(
    'HTTP statuses of responses such as 404, or classes such as 4xx; may be repeated',
  ),
  caller: repeatable(caller).describe(
    `ids of calling users, or \`${ANONYMOUS}\` for calls without a user; may be repeated`,
  ),
  client: repeatable(text).describe(
    'names of clients, with a version (`claude/1.0`) or for all of them (`claude`); may be repeated',
  ),
  from: instantSchema.optional().describe('calls at or after this time'),
  to: instantSchema.optional().describe('calls before this time'),
  q: text
    .optional()
    .describe(
      'text in the error, the request, the arguments or the stored bodies, ignoring case. Every character counts as itself',
    ),
}

const Filters = z.strictObject(filterFields)

/** Filters of calls. `from` is inclusive, `to` exclusive. */
export type ExecutionFilters = Partial<z.output<typeof Filters>> & {
  /** Selects the calls of this tool of a server, whatever its name was. */
  instanceId?: string | undefined
}

/** The calls that a reader may see: of one server, or of the servers of an organization. */
export type CallScope = ServerScope | OrganizationScope

export type ServerScope = {
  serverId: string
  /** The only user whose calls the reader may see. */
  callerId?: string | undefined
}

export type OrganizationScope = {
  organizationId: string
  /** The servers whose calls the reader may see, all of them or only their own. */
  serverIds: readonly string[]
  ownServerIds: readonly string[]
  readerId: string
}

const toStatusText = ({ first, last }: { first: number; last: number }): string =>
  first === last ? String(first) : `${first / 100}xx`

/** Returns the filters as they are written in a query, for the audit log. */
export const describeFilters = ({ instanceId, ...filters }: ExecutionFilters): JsonObject => {
  const { caller, status, from, to } = filters
  return definedFields({
    ...filters,
    instanceId,
    caller: caller?.map(id => id ?? ANONYMOUS),
    status: status?.map(toStatusText),
    from: from?.toISOString(),
    to: to?.toISOString(),
  })
}
