import {
  type ExecutionGap,
  type MaskedRequest,
  type RecordedArguments,
  STORED_BODY_CHARACTERS,
} from '../../history/execution-record.ts'
import type { ExecutionDetail, StoredExecution } from '../../history/executions.store.ts'
import { dayText } from '../../lib/http/pages/time-text.ts'
import { formatBytes, formatCount, formatDuration, formatNumber } from '../../lib/kernel/format.ts'
import { calledText } from '../../runtime/call/called-text.ts'
import { toCurl } from '../../runtime/try/curl.ts'
import { describeSchemaMismatch, showOutcome } from './call-outcome.view.ts'
import { toAttemptRows, toTimingRows } from './call-timing.view.ts'

/** Email addresses of the callers that the viewer may see, by user ID, and names of servers if several are shown. */
export type Names = { callers: ReadonlyMap<string, string>; servers?: ReadonlyMap<string, string> | undefined }

const clockText = (time: Date): string => time.toISOString().slice(0, 19).replace('T', ' ')
const shownTime = (time: Date) => ({ at: time.toISOString(), text: `${clockText(time)} UTC` })

/** Returns the time of day in UTC, and the exact time. */
const shownClock = (time: Date) => {
  const at = time.toISOString()
  return { at, text: at.slice(11, 19), exact: `${at.slice(0, 23).replace('T', ' ')} UTC` }
}

const callerText = ({ userId }: StoredExecution, names: Names): string => {
  if (userId === undefined) return 'anonymous'
  return names.callers.get(userId) ?? 'a user of another organization'
}

/** Returns the number of tokens sent, and the total if the result was cut. */
const tokensText = ({ tokensBefore, tokensSent, areTokensEstimated }: StoredExecution): string | undefined => {
  if (tokensSent === undefined) return undefined
  const sent = `${areTokensEstimated ? 'about ' : ''}${formatNumber(tokensSent)}`
  return tokensBefore === undefined || tokensBefore === tokensSent ? sent : `${sent} of ${formatNumber(tokensBefore)}`
}

const toRow = (execution: StoredExecution, names: Names) => ({
  id: execution.id,
  clock: shownClock(execution.startedAt),
  tool: calledText(execution),
  server: names.servers?.get(execution.serverId),
  outcome: showOutcome(execution),
  took: formatDuration(execution.durationMs),
  size: formatBytes(execution.responseBytes),
  tokens: tokensText(execution),
  client: execution.client ?? 'unnamed client',
  caller: callerText(execution, names),
})

const toGapRow = ({ serverId, missing, from, to, reason }: ExecutionGap, { servers }: Names) => ({
  gap: {
    text: `${formatCount(missing, 'call', 'calls')}${servers === undefined ? '' : ` of ${servers.get(serverId) ?? 'a server'}`} ${missing === 1 ? 'was' : 'were'} not recorded between`,
    from: shownTime(from),
    to: shownTime(to),
    reason,
  },
})

export type HistoryPage = {
  items: readonly StoredExecution[]
  gaps: readonly ExecutionGap[]
  isFirst: boolean
  isLast: boolean
}

type HistoryRow = ReturnType<typeof toRow> | ReturnType<typeof toGapRow>
type HistoryDay = { text: string; rows: HistoryRow[] }

/** Groups rows by their day in UTC, keeping their order. A script groups them by the reader's day. */
const toDays = (timed: readonly { at: Date; row: HistoryRow }[], now: Date): HistoryDay[] => {
  const days: HistoryDay[] = []
  for (const { at, row } of timed) {
    const text = dayText(at, now)
    const last = days.at(-1)
    if (last?.text === text) last.rows.push(row)
    else days.push({ text, rows: [row] })
  }
  return days
}

/** Merges calls and the gaps between them by day, newest first. Includes only gaps within this page. */
export const toHistoryDays = ({ items, gaps, isFirst, isLast }: HistoryPage, names: Names, now: Date): HistoryDay[] => {
  const newest = isFirst ? undefined : items[0]?.startedAt
  const oldest = isLast ? undefined : items.at(-1)?.startedAt
  const here = gaps.filter(({ to }) => (newest === undefined || to <= newest) && (oldest === undefined || to > oldest))
  const timed = [
    ...items.map(item => ({ at: item.startedAt, row: toRow(item, names) })),
    ...here.map(gap => ({ at: gap.to, row: toGapRow(gap, names) })),
  ]
  return toDays(
    timed.sort((a, b) => b.at.getTime() - a.at.getTime()),
    now,
  )
}

/** Returns the text of the request as it was sent, with secrets masked. */
const requestText = ({ method, url, headers, body }: MaskedRequest): string =>
  [`${method} ${url}`, ...headers.map(([name, value]) => `${name}: ${value}`), ...(body ? ['', body] : [])].join('\n')

/** Returns the recorded arguments as JSON, and says which are missing. */
const argumentsView = ({ values, cut, masked }: RecordedArguments) => ({
  text: JSON.stringify(values, undefined, 2),
  hasValues: Object.keys(values).length > 0,
  masked: masked.join(', '),
  cut: cut.join(', '),
})

/** Says that a body is cut, if it is. */
const cutText = (body: { isCut: boolean } | undefined): string | undefined =>
  body?.isCut ? `Only the first ${formatNumber(STORED_BODY_CHARACTERS)} characters are stored.` : undefined

/** Builds the details of one call. */
export const toCallView = (execution: ExecutionDetail, names: Names) => {
  const { request, error, bodies, arguments: recorded } = execution
  const ageMs = request?.answerAgeMs
  const row = toRow(execution, names)
  return {
    ...row,
    errorTone: row.outcome.state === 'rejected' ? 'warn' : 'danger',
    time: shownTime(execution.startedAt),
    error,
    serverHref: `/servers/${execution.serverId}`,
    mismatch: request?.schemaMismatch && describeSchemaMismatch(request.schemaMismatch),
    answer: ageMs === undefined ? undefined : `from the cache, ${formatDuration(ageMs)} old; no request was sent`,
    requestSize: formatBytes(execution.requestBytes),
    requestId: execution.requestId,
    timing: toTimingRows(execution.timing, execution.durationMs),
    attempts: toAttemptRows(execution.attempts, execution.durationMs),
    args: recorded && argumentsView(recorded),
    request: request && { text: requestText(request), curl: toCurl(request), cut: cutText(bodies?.request) },
    response: bodies?.response && { text: bodies.response.text, cut: cutText(bodies.response) },
  }
}
