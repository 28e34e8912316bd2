import { z } from 'zod'
import { pageQuery } from '../../lib/http/paging.ts'
import { instantSchema, timeSchema } from '../../lib/http/schemas.ts'

export const CallArguments = z.strictObject({ arguments: z.record(z.string(), z.json()).default({}) })

export const TestArguments = CallArguments.extend({
  serverId: z.uuid().optional().describe('whose globals fill the parameters that no argument is given for'),
})

/** CallToolResult of MCP (specification, server/tools). */
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
  body: z.string().nullable(),
})

export const ToolTestView = z.object({
  request: RequestView.nullable().describe('null when the arguments made no request'),
  response: z
    .object({
      status: z.int(),
      headers: headerList,
      body: z.string(),
      durationMs: z.number(),
    })
    .nullable()
    .describe('null when no answer came'),
  curl: z.string().nullable(),
  result: CallToolResultView,
})

export const ExecutionQuery = pageQuery.extend({
  from: instantSchema.optional().describe('from this instant on'),
  to: instantSchema.optional().describe('up to this instant, without it'),
  outcome: z.enum(['ok', 'error']).optional(),
  tool: z.string().max(64).optional(),
})

export const ExecutionView = z.object({
  id: z.string(),
  serverId: z.string(),
  instanceId: z.string().nullable(),
  tool: z.string().nullable().describe('null where a request was passed on, which calls no tool'),
  caller: z.string().nullable().describe('id of the user who called; null on a public server'),
  client: z.string().nullable(),
  startedAt: timeSchema,
  durationMs: z.number(),
  outcome: z.enum(['ok', 'error']),
  status: z.int().nullable(),
  requestBytes: z.int(),
  responseBytes: z.int(),
  error: z.string().nullable(),
  request: RequestView.nullable(),
  answerAgeMs: z
    .number()
    .nullable()
    .describe('how old the answer was, where one was given that had been kept; null where the request was sent'),
  tokensBefore: z.int().nullable().describe('of the whole answer; null where it was not counted, or not yet'),
  tokensSent: z.int().nullable().describe('of what was sent of it'),
  createdAt: timeSchema,
  updatedAt: timeSchema,
})

export const GapView = z.object({ missing: z.int(), from: timeSchema, to: timeSchema, reason: z.string() })
