import { z } from 'zod'
import type { Database, Rows } from '../lib/db/client.ts'
import { decodeCursor, type Page, toPage } from '../lib/http/paging.ts'
import { MAX_PAGE_SIZE } from '../lib/kernel/limits.ts'
import { definedFields, mapFound, withoutNulls } from '../lib/kernel/missing.ts'
import { type CallResult, resultOfErrorStatus } from './call-result.ts'
import {
  type CallAttempt,
  type CallTiming,
  type ExecutionGap,
  type ExecutionRecord,
  MASKED,
  type MaskedRequest,
  type RecordedArguments,
  TIMING_PHASES,
} from './execution-record.ts'

/** `from` is inclusive, `to` exclusive. */
type TimeRange = { from?: Date | undefined; to?: Date | undefined }

export type ExecutionQuery = TimeRange & {
  serverId: string
  /** Lists only the calls of this user. */
  userId?: string | undefined
  outcome?: 'ok' | 'error' | undefined
  result?: CallResult | undefined
  tool?: string | undefined
  /** Lists only the calls of this tool of the server, whatever its name was. */
  instanceId?: string | undefined
  /** 1 to 200. */
  limit: number
  cursor?: string | undefined
}

const CURSOR = z.tuple([z.iso.datetime().transform(text => new Date(text)), z.uuid()])

const REQUEST = z.object({
  method: z.string(),
  url: z.string(),
  headers: z.array(z.tuple([z.string(), z.string()])),
  body: z.string().optional(),
  answerAgeMs: z.number().optional(),
  schemaMismatch: z.string().optional(),
})

const toRequest = (text: string | null): MaskedRequest | undefined =>
  text === null ? undefined : { ...REQUEST.parse(JSON.parse(text)), [MASKED]: true }

const ARGUMENTS = z.object({
  values: z.record(z.string(), z.json()),
  cut: z.array(z.string()),
  masked: z.array(z.string()),
})

const toArguments = (text: string | null): RecordedArguments | undefined =>
  text === null ? undefined : ARGUMENTS.parse(JSON.parse(text))

const TIMING = z.partialRecord(z.enum(TIMING_PHASES), z.number())

const toTiming = (text: string | null): CallTiming | undefined =>
  text === null ? undefined : TIMING.parse(JSON.parse(text))

const ATTEMPTS = z.array(
  z.object({
    startMs: z.number(),
    durationMs: z.number(),
    status: z.number().optional(),
    failure: z.string().optional(),
  }),
)

const toAttempts = (text: string | null): CallAttempt[] | undefined =>
  text === null ? undefined : ATTEMPTS.parse(JSON.parse(text))

export type StoredExecution = ExecutionRecord & {
  /** Tokens of the whole result and of the part that was sent. Undefined while not counted. */
  tokensBefore: number | undefined
  tokensSent: number | undefined
  areTokensEstimated: boolean
  createdAt: Date
  updatedAt: Date
}

/** A row. Lists leave out the arguments. */
type ListedRow = Omit<Rows.Execution, 'arguments'> & { arguments?: string | null }

/** Converts a row. Rows from before results were recorded get the one that follows from their outcome and status. */
const toExecution = (listed: ListedRow): StoredExecution => {
  const { request, arguments: args, tokensEstimated, result, timing, attempts, ...row } = listed
  return {
    ...withoutNulls(row),
    result: result ?? (row.outcome === 'ok' ? 'success' : resultOfErrorStatus(row.status ?? undefined)),
    request: toRequest(request),
    arguments: toArguments(args ?? null),
    timing: toTiming(timing),
    attempts: toAttempts(attempts),
    areTokensEstimated: tokensEstimated ?? false,
  }
}

const IS_REFUSAL = { status: { gte: 400, lte: 499 } }

/** Selects rows with this result, and those from before results were recorded from which it follows. */
const having = (result: CallResult | undefined) => {
  switch (result) {
    case undefined:
      return []
    case 'success':
      return [{ outcome: 'ok' as const }]
    case 'rejected':
      return [{ OR: [{ result }, { result: null, outcome: 'error' as const, ...IS_REFUSAL }] }]
    case 'failed': {
      // A condition is not true for a status that is null, nor is its opposite.
      const isOther = { OR: [{ status: null }, { NOT: IS_REFUSAL }] }
      return [{ OR: [{ result }, { result: null, outcome: 'error' as const, ...isOther }] }]
    }
    default:
      return [{ result }]
  }
}

/** Selects rows after the cursor, newest first. The first condition is redundant, but lets the index be used. */
const after = (cursor: string | undefined) => {
  const key = decodeCursor(cursor, CURSOR)
  if (key === undefined) return []
  const [startedAt, id] = key
  return [{ startedAt: { lte: startedAt } }, { OR: [{ startedAt: { lt: startedAt } }, { id: { lt: id } }] }]
}

/** Counts the recorded calls of a server up to a maximum, because counting a long history takes time. */
export const countExecutions = (db: Database, serverId: string, atMost: number): Promise<number> =>
  db.execution.count({ where: { serverId }, take: atMost })

/** Creates the store for the history. The caller must have checked access to the server. */
export const createExecutionStore = (db: Database) => ({
  /** Lists calls, newest first, without their arguments. Throws `invalid_request` if the cursor is invalid. */
  list: async (query: ExecutionQuery): Promise<Page<StoredExecution>> => {
    const { serverId, userId, from, to, outcome, result, tool, instanceId, limit, cursor } = query
    const rows = await db.execution.findMany({
      where: {
        serverId,
        startedAt: definedFields({ gte: from, lt: to }),
        ...definedFields({ userId, outcome, tool, instanceId }),
        AND: [...after(cursor), ...having(result)],
      },
      orderBy: [{ startedAt: 'desc' }, { id: 'desc' }],
      take: limit + 1,
      omit: { arguments: true },
    })
    return toPage(rows.map(toExecution), limit, last => [last.startedAt, last.id])
  },

  find: async (id: string, organizationIds: readonly string[]): Promise<StoredExecution | undefined> => {
    const server = { organizationId: { in: [...organizationIds] }, removedAt: null }
    return mapFound(await db.execution.findFirst({ where: { id, server } }), toExecution)
  },

  /** Lists the newest gaps that overlap the range, newest first. */
  listGaps: async ({ serverId, from, to }: TimeRange & { serverId: string }): Promise<ExecutionGap[]> => {
    return db.executionGap.findMany({
      where: {
        serverId,
        ...(from !== undefined && { to: { gte: from } }),
        ...(to !== undefined && { from: { lt: to } }),
      },
      select: { serverId: true, missing: true, from: true, to: true, reason: true },
      orderBy: [{ to: 'desc' }, { id: 'desc' }],
      take: MAX_PAGE_SIZE,
    })
  },
})
