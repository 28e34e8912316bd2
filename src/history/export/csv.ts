import { TIMING_PHASES } from '../execution-record.ts'
import type { ExportedCall } from './export-row.ts'

/** Beginnings that make a spreadsheet take a text for a formula. */
const FORMULA = /^[=+\-@\t\r\n＝＋－＠]/
const QUOTED = /[",\r\n]/

/**
 * Writes a cell (RFC 4180). A text that a spreadsheet would run as a formula gets a leading apostrophe, because callers
 * choose some of the texts.
 */
const toCell = (value: string | number | boolean | null): string => {
  if (typeof value !== 'string') return value === null ? '' : String(value)
  const text = FORMULA.test(value) ? `'${value}` : value
  return QUOTED.test(text) ? `"${text.replaceAll('"', '""')}"` : text
}

const COLUMNS: Record<string, (call: ExportedCall) => string | number | boolean | null> = {
  id: call => call.id,
  startedAt: call => call.startedAt,
  serverId: call => call.serverId,
  tool: call => call.tool,
  result: call => call.result,
  outcome: call => call.outcome,
  status: call => call.status,
  durationMs: call => call.durationMs,
  caller: call => call.caller,
  client: call => call.client,
  token: call => call.token,
  requestId: call => call.requestId,
  method: call => call.request?.method ?? null,
  url: call => call.request?.url ?? null,
  requestBytes: call => call.requestBytes,
  responseBytes: call => call.responseBytes,
  tokensBefore: call => call.tokensBefore,
  tokensSent: call => call.tokensSent,
  tokensEstimated: call => call.tokensEstimated,
  answerAgeMs: call => call.answerAgeMs,
  schemaMismatch: call => call.schemaMismatch,
  error: call => call.error,
  attempts: call => call.attempts?.length ?? 1,
  ...Object.fromEntries(TIMING_PHASES.map(phase => [phase, (call: ExportedCall) => call.timing?.[phase] ?? null])),
}

const LINE_END = '\r\n'
const cellsOf = Object.values(COLUMNS)

export const CSV_HEADER = `${Object.keys(COLUMNS).join(',')}${LINE_END}`

export const toCsvLine = (call: ExportedCall): string =>
  `${cellsOf.map(cell => toCell(cell(call))).join(',')}${LINE_END}`
