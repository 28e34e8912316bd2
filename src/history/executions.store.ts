import { z } from 'zod'
import type { Database, Rows } from '../lib/db/client.ts'
import type { Page } from '../lib/http/paging.ts'
import { MAX_PAGE_SIZE } from '../lib/kernel/limits.ts'
import { mapFound, withoutNulls } from '../lib/kernel/missing.ts'
import { findBodies } from './bodies/call-bodies.store.ts'
import type { OpenBodies, StoredBodies } from './bodies/call-bodies.ts'
import { resultOfRow } from './call-result.ts'
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
import { decodeCallCursor, encodeCallCursor } from './query/call-ranges.ts'
import { selectionOf } from './query/conditions.ts'
import type { CallScope, ExecutionFilters } from './query/execution-filters.ts'
import { searchKeys } from './query/search-keys.ts'

/** `from` is inclusive, `to` exclusive. */
type TimeRange = { from?: Date | undefined; to?: Date | undefined }

/** Filters of a page of calls. The `limit` is 1 to 200. */
export type ExecutionQuery = ExecutionFilters & { limit: number; cursor?: string | undefined }

/** A page of calls. `lookedUntil` is set if the search ended before it found as many as wanted: the time it got to. */
export type ExecutionPage = Page<StoredExecution> & { lookedUntil: Date | undefined }

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

export type StoredExecution = Omit<ExecutionRecord, 'bodies'> & {
  /** Tokens of the whole result and of the part that was sent. Undefined while not counted. */
  tokensBefore: number | undefined
  tokensSent: number | undefined
  areTokensEstimated: boolean
  createdAt: Date
  updatedAt: Date
}

/** A row. Lists leave out the arguments. */
type ListedRow = Omit<Rows.Execution, 'arguments'> & { arguments?: string | null }

const toExecution = (listed: ListedRow): StoredExecution => {
  const { request, arguments: args, tokensEstimated, result: _, timing, attempts, ...row } = listed
  return {
    ...withoutNulls(row),
    result: resultOfRow(listed),
    request: toRequest(request),
    arguments: toArguments(args ?? null),
    timing: toTiming(timing),
    attempts: toAttempts(attempts),
    areTokensEstimated: tokensEstimated ?? false,
  }
}

/** A call with its bodies, if its server stored them. `request.body` is then the stored one. */
export type ExecutionDetail = StoredExecution & { bodies: StoredBodies | undefined }

const withBodies = (execution: StoredExecution, bodies: StoredBodies | undefined): ExecutionDetail => {
  const { request } = execution
  const sent = bodies?.request
  if (request === undefined || sent === undefined) return { ...execution, bodies }
  return { ...execution, request: { ...request, body: sent.isCut ? `${sent.text}…` : sent.text }, bodies }
}

/** Counts the recorded calls of a server up to a maximum, because counting a long history takes time. */
export const countExecutions = (db: Database, serverId: string, atMost: number): Promise<number> =>
  db.execution.count({ where: { serverId }, take: atMost })

/** Creates the store for the history. The caller must have checked access to the server. */
export const createExecutionStore = (db: Database, openBodies: OpenBodies) => ({
  /**
   * Lists calls, newest first, without their arguments and bodies. Conditions that no index serves are checked on a limited number
   * of calls for each page. Throws `invalid_request` if the cursor is invalid.
   */
  list: async (
    scope: CallScope,
    { limit, cursor, ...filters }: ExecutionQuery,
    signal?: AbortSignal,
  ): Promise<ExecutionPage> => {
    const start = decodeCallCursor(cursor)
    const { keys, stoppedAt } = await searchKeys(db, selectionOf(scope, filters, openBodies), start, limit + 1, signal)
    const ids = keys.slice(0, limit).map(({ id }) => id)
    const rows = await db.execution.findMany({
      where: { id: { in: ids } },
      orderBy: [{ startedAt: 'desc' }, { id: 'desc' }],
      omit: { arguments: true },
    })
    const next = keys.length > limit ? keys[limit - 1] : stoppedAt
    return {
      items: rows.map(toExecution),
      nextCursor: next === undefined ? null : encodeCallCursor(next),
      lookedUntil: keys.length > limit ? undefined : stoppedAt?.startedAt,
    }
  },

  find: async (id: string, organizationIds: readonly string[]): Promise<ExecutionDetail | undefined> => {
    const server = { organizationId: { in: [...organizationIds] }, removedAt: null }
    const execution = mapFound(await db.execution.findFirst({ where: { id, server } }), toExecution)
    return execution && withBodies(execution, await findBodies(db, openBodies, id))
  },

  /** Lists the newest gaps that overlap the range, newest first. */
  listGaps: async ({ serverIds, from, to }: TimeRange & { serverIds: readonly string[] }): Promise<ExecutionGap[]> => {
    return db.executionGap.findMany({
      where: {
        serverId: { in: [...serverIds] },
        ...(from !== undefined && { to: { gte: from } }),
        ...(to !== undefined && { from: { lt: to } }),
      },
      select: { serverId: true, missing: true, from: true, to: true, reason: true },
      orderBy: [{ to: 'desc' }, { id: 'desc' }],
      take: MAX_PAGE_SIZE,
    })
  },
})
