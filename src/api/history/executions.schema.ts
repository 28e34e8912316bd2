import { z } from 'zod'
import { CALL_RESULTS } from '../../history/call-result.ts'
import { filterFields } from '../../history/query/execution-filters.ts'
import { pageOf, pageQuery } from '../../lib/http/paging.ts'
import { orNull, timeSchema } from '../../lib/http/schemas.ts'

export const CallArguments = z.strictObject({ arguments: z.record(z.string(), z.json()).default({}) })

export const TestArguments = CallArguments.extend({
  serverId: z.uuid().optional().describe('server whose globals supply parameters without an argument'),
})

/** CallToolResult (MCP specification, server/tools). */
export const CallToolResultView = z.object({
  content: z.array(z.record(z.string(), z.json())),
  structuredContent: z.json().optional(),
  isError: z.boolean().optional(),
})

const headerList = z.array(z.object({ name: z.string(), value: z.string() }))
const RequestView = z.object({
  method: z.string(),
  url: z.string(),
  headers: headerList,
  body: orNull(z.string()),
})

const schemaMismatchView = orNull(z.string()).describe(
  "how the response differs from the tool's output schema; what does not match is left out of the structured content",
)

const milliseconds = orNull(z.number())

const TimingView = z
  .object({
    resolveMs: milliseconds.describe('resolving the arguments and rendering the request'),
    queueMs: milliseconds.describe('waiting for a free connection or for memory'),
    dnsMs: milliseconds,
    connectMs: milliseconds.describe('TCP and TLS'),
    firstByteMs: milliseconds.describe('from the request to the first byte of the response'),
    bodyMs: milliseconds.describe('from there to the end of the response'),
    shapeMs: milliseconds.describe('shaping and masking the result'),
  })
  .describe('milliseconds by phase, of all attempts together; null for a phase that was not measured')

const AttemptView = z.object({
  startMs: z.number().describe('from the start of the call'),
  durationMs: z.number(),
  status: orNull(z.int()),
  failure: orNull(z.string()).describe('why there was no response'),
})

const Attempts = orNull(z.array(AttemptView)).describe('all attempts, if there was more than one')

export const ToolTestView = z.object({
  request: orNull(RequestView).describe('null if the arguments were invalid, so that no request was sent'),
  response: orNull(
    z.object({ status: z.int(), headers: headerList, body: z.string(), durationMs: z.number() }),
  ).describe('null if there was no response'),
  curl: orNull(z.string()),
  result: CallToolResultView,
  schemaMismatch: schemaMismatchView,
  timing: orNull(TimingView),
  attempts: Attempts,
  proposedSchema: orNull(z.record(z.string(), z.json())).describe(
    "what the API description proposes as the tool's outputSchema, if the response matches it and the tool has none",
  ),
})

/** An unknown filter is refused, because ignoring it would select other calls than were meant. */
export const ExecutionQuery = z.strictObject({ ...pageQuery.shape, ...filterFields })

const ExecutionView = z.object({
  id: z.string(),
  serverId: z.string(),
  instanceId: orNull(z.string()),
  tool: orNull(z.string()).describe('null for a passthrough request'),
  caller: orNull(z.string()).describe('id of the calling user; null on a public server'),
  client: orNull(z.string()),
  token: orNull(z.string()).describe("id of the caller's access token, or of the application's grant"),
  requestId: orNull(z.string()).describe('as in the header x-request-id; null for calls from pages'),
  startedAt: timeSchema,
  durationMs: z.number(),
  outcome: z.enum(['ok', 'error']),
  result: z
    .enum(CALL_RESULTS)
    .describe(
      'how the call ended. `success` if the outcome is `ok`. `rejected`: the API or MCP server refused it, as with a 4xx status. `timeout`: it took too long. `blocked`: the request may not be sent to its address. `invalid_arguments`: the arguments were refused. `failed`: any other error, such as a 5xx status or no connection. Calls recorded before this field existed have the result that follows from their outcome and status',
    ),
  status: orNull(z.int()),
  requestBytes: z.int(),
  responseBytes: z.int(),
  error: orNull(z.string()),
  request: orNull(RequestView),
  answerAgeMs: orNull(z.number()).describe('age of the cached result; null if the request was sent'),
  schemaMismatch: schemaMismatchView,
  tokensBefore: orNull(z.int()).describe('tokens of the whole result; null if not counted (yet)'),
  tokensSent: orNull(z.int()).describe('tokens of the result that was sent'),
  tokensEstimated: z.boolean().describe('whether the tokens were estimated, as for long results'),
  timing: orNull(TimingView),
  attempts: Attempts,
  createdAt: timeSchema,
  updatedAt: timeSchema,
})

const BodyView = orNull(
  z.object({
    text: z.string(),
    isCut: z.boolean().describe('whether the body is longer than the 65,536 characters here'),
  }),
)

export const ExecutionDetailView = ExecutionView.extend({
  arguments: orNull(
    z.object({
      values: z.record(z.string(), z.json()),
      cut: z.array(z.string()).describe('arguments that were too long to be recorded'),
      masked: z.array(z.string()).describe('arguments that are or contain a secret'),
    }),
  ).describe('null for a passthrough request, and for calls recorded before arguments were'),
  requestBody: BodyView.describe('null if the server does not store bodies or the request had none'),
  responseBody: BodyView.describe(
    'the response as it was received, with secrets masked; null if the server does not store bodies, the response is not text, or there was none',
  ),
  curl: orNull(z.string()).describe('the request as a curl command, with secrets masked'),
})

const GapView = z.object({
  serverId: z.string(),
  missing: z.int(),
  from: timeSchema,
  to: timeSchema,
  reason: z.string(),
})

export const ExecutionPageView = pageOf(ExecutionView).extend({
  lookedUntil: orNull(timeSchema).describe(
    'set if the search for this page ended before it found enough calls: no older calls than these were looked at. Go on with `nextCursor`. A page looks at 20,000 calls, and for 2 seconds, at most',
  ),
  gaps: z.array(GapView).describe('records lost in this period'),
})
