import type { ExecutionGap, MaskedRequest } from '../../history/execution-record.ts'
import type { StoredExecution } from '../../history/executions.store.ts'
import { formatBytes, formatCount, formatDuration, formatNumber } from '../../lib/http/pages/format.ts'
import { calledText } from '../../runtime/call/called-text.ts'
import { toCurl } from '../../runtime/try/curl.ts'

/** Whom the reader may know of the callers, by id. */
export type Names = ReadonlyMap<string, string>

const clockText = (time: Date): string => time.toISOString().slice(0, 19).replace('T', ' ')
const shownTime = (time: Date) => ({ at: time.toISOString(), text: `${clockText(time)} UTC` })

/** What came of a call in two words, with the status where there was an answer. */
const outcomeText = ({ outcome, status, request }: StoredExecution): string => {
  if (request === undefined && outcome === 'error') return 'not sent'
  if (status === undefined) return outcome === 'ok' ? 'answered' : 'no answer'
  if (request?.answerAgeMs !== undefined) return `${status} answered again`
  if (outcome === 'ok') return `${status} answered`
  return status >= 200 && status < 300 ? `${status} not usable` : `${status} refused`
}

const callerText = ({ userId }: StoredExecution, names: Names): string => {
  if (userId === undefined) return 'a stranger'
  return names.get(userId) ?? 'a user of another organization'
}

/** What was sent of the answer, and of how much where something was left out. */
const tokensText = ({ tokensBefore, tokensSent, areTokensEstimated }: StoredExecution): string | undefined => {
  if (tokensSent === undefined) return undefined
  const sent = `${areTokensEstimated ? 'about ' : ''}${formatNumber(tokensSent)}`
  return tokensBefore === undefined || tokensBefore === tokensSent ? sent : `${sent} of ${formatNumber(tokensBefore)}`
}

const toRow = (execution: StoredExecution, names: Names) => ({
  id: execution.id,
  time: shownTime(execution.startedAt),
  tool: calledText(execution),
  outcome: outcomeText(execution),
  isFailed: execution.outcome === 'error',
  took: formatDuration(execution.durationMs),
  size: formatBytes(execution.responseBytes),
  tokens: tokensText(execution),
  client: execution.client ?? 'unnamed client',
  caller: callerText(execution, names),
})

const toGapRow = ({ missing, from, to, reason }: ExecutionGap) => ({
  gap: {
    text: `${formatCount(missing, 'call was', 'calls were')} not recorded between`,
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

/** Calls and what is missing between them, newest first; of the gaps those that lie on this page of the list. */
export const toHistoryRows = ({ items, gaps, isFirst, isLast }: HistoryPage, names: Names) => {
  const newest = isFirst ? undefined : items[0]?.startedAt
  const oldest = isLast ? undefined : items.at(-1)?.startedAt
  const here = gaps.filter(({ to }) => (newest === undefined || to <= newest) && (oldest === undefined || to > oldest))
  return [
    ...items.map(item => ({ at: item.startedAt.getTime(), row: toRow(item, names) })),
    ...here.map(gap => ({ at: gap.to.getTime(), row: toGapRow(gap) })),
  ]
    .sort((a, b) => b.at - a.at)
    .map(({ row }) => row)
}

/** As it went over the wire, but for the masks. */
const requestText = ({ method, url, headers, body }: MaskedRequest): string =>
  [`${method} ${url}`, ...headers.map(([name, value]) => `${name}: ${value}`), ...(body ? ['', body] : [])].join('\n')

/** One call with all that is kept of it. */
export const toCallView = (execution: StoredExecution, names: Names) => {
  const { request, error } = execution
  const ageMs = request?.answerAgeMs
  return {
    ...toRow(execution, names),
    error,
    answer: ageMs === undefined ? undefined : `from the cache, ${formatDuration(ageMs)} old; no request was sent`,
    requestSize: formatBytes(execution.requestBytes),
    request: request && { text: requestText(request), curl: toCurl(request) },
  }
}
