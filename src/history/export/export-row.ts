import { type CallResult, resultOfRow } from '../call-result.ts'
import { TIMING_PHASES } from '../execution-record.ts'

/** The columns of a call that is exported. */
export const EXPORTED_COLUMNS = [
  'id',
  'serverId',
  'instanceId',
  'tool',
  'userId',
  'tokenId',
  'requestId',
  'client',
  'startedAt',
  'durationMs',
  'outcome',
  'result',
  'status',
  'requestBytes',
  'responseBytes',
  'error',
  'request',
  'tokensBefore',
  'tokensSent',
  'tokensEstimated',
  'timing',
  'attempts',
  'createdAt',
  'updatedAt',
] as const

/** A row as the database drivers return it: times are texts on SQLite, and booleans numbers. */
export type ExportedRow = {
  id: string
  serverId: string
  instanceId: string | null
  tool: string
  userId: string | null
  tokenId: string | null
  requestId: string | null
  client: string | null
  startedAt: Date | string
  durationMs: number
  outcome: string
  result: CallResult | null
  status: number | null
  requestBytes: number
  responseBytes: number
  error: string | null
  request: string | null
  tokensBefore: number | null
  tokensSent: number | null
  tokensEstimated: boolean | number | null
  timing: string | null
  attempts: string | null
  createdAt: Date | string
  updatedAt: Date | string
}

const UTC_OFFSET = '+00:00'

const toTime = (time: Date | string): string =>
  typeof time === 'string' ? `${time.slice(0, -UTC_OFFSET.length)}Z` : time.toISOString()

type StoredRequest = {
  method: string
  url: string
  headers: [name: string, value: string][]
  body?: string
  answerAgeMs?: number
  schemaMismatch?: string
}
type StoredAttempt = { startMs: number; durationMs: number; status?: number; failure?: string }

// The recorder wrote these texts, so they are not checked again.
const parseRequest = (text: string | null): StoredRequest | undefined => (text === null ? undefined : JSON.parse(text))
const parseAttempts = (text: string | null): StoredAttempt[] | undefined =>
  text === null ? undefined : JSON.parse(text)
const parseTiming = (text: string | null): Record<string, number> | undefined =>
  text === null ? undefined : JSON.parse(text)

const toTiming = (text: string | null) => {
  const timing = parseTiming(text)
  return timing === undefined ? null : Object.fromEntries(TIMING_PHASES.map(phase => [phase, timing[phase] ?? null]))
}

const toAttempts = (text: string | null) =>
  parseAttempts(text)?.map(({ status = null, failure = null, ...times }) => ({ ...times, status, failure })) ?? null

/** Returns a call with the fields that it has in lists of the API. */
export const toExportedCall = (row: ExportedRow) => {
  const request = parseRequest(row.request)
  return {
    id: row.id,
    serverId: row.serverId,
    instanceId: row.instanceId,
    tool: row.tool === '' ? null : row.tool,
    caller: row.userId,
    token: row.tokenId,
    requestId: row.requestId,
    client: row.client,
    startedAt: toTime(row.startedAt),
    durationMs: row.durationMs,
    outcome: row.outcome,
    result: resultOfRow(row),
    status: row.status,
    requestBytes: row.requestBytes,
    responseBytes: row.responseBytes,
    error: row.error,
    request: request
      ? {
          method: request.method,
          url: request.url,
          headers: request.headers.map(([name, value]) => ({ name, value })),
          body: request.body ?? null,
        }
      : null,
    answerAgeMs: request?.answerAgeMs ?? null,
    schemaMismatch: request?.schemaMismatch ?? null,
    tokensBefore: row.tokensBefore,
    tokensSent: row.tokensSent,
    tokensEstimated: row.tokensEstimated === true || row.tokensEstimated === 1,
    timing: toTiming(row.timing),
    attempts: toAttempts(row.attempts),
    createdAt: toTime(row.createdAt),
    updatedAt: toTime(row.updatedAt),
  }
}

export type ExportedCall = ReturnType<typeof toExportedCall>
