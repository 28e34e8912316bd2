import type { ExecutionGap, MaskedRequest } from '../../history/execution-record.ts'
import type { StoredExecution } from '../../history/executions.store.ts'
import { formatBytes, formatCount, formatDuration, formatNumber } from '../../lib/kernel/format.ts'
import { calledText } from '../../runtime/call/called-text.ts'
import { toCurl } from '../../runtime/try/curl.ts'
import { showOutcome } from './call-outcome.view.ts'

/** Email addresses of the callers that the viewer may see, by user ID. */
export type Names = ReadonlyMap<string, string>

const clockText = (time: Date): string => time.toISOString().slice(0, 19).replace('T', ' ')
const shownTime = (time: Date) => ({ at: time.toISOString(), text: `${clockText(time)} UTC` })

const callerText = ({ userId }: StoredExecution, names: Names): string => {
  if (userId === undefined) return 'anonymous'
  return names.get(userId) ?? 'a user of another organization'
}

/** Returns the number of tokens sent, and the total if the result was cut. */
const tokensText = ({ tokensBefore, tokensSent, areTokensEstimated }: StoredExecution): string | undefined => {
  if (tokensSent === undefined) return undefined
  const sent = `${areTokensEstimated ? 'about ' : ''}${formatNumber(tokensSent)}`
  return tokensBefore === undefined || tokensBefore === tokensSent ? sent : `${sent} of ${formatNumber(tokensBefore)}`
}

const toRow = (execution: StoredExecution, names: Names) => ({
  id: execution.id,
  time: shownTime(execution.startedAt),
  tool: calledText(execution),
  outcome: showOutcome(execution),
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

/** Merges calls and the gaps between them, newest first. Includes only gaps within this page. */
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

/** Returns the text of the request as it was sent, with secrets masked. */
const requestText = ({ method, url, headers, body }: MaskedRequest): string =>
  [`${method} ${url}`, ...headers.map(([name, value]) => `${name}: ${value}`), ...(body ? ['', body] : [])].join('\n')

/** Builds the details of one call. */
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
