import type { TokenSums } from '../../history/tool-days.store.ts'
import { DAY_MS } from '../../lib/kernel/durations.ts'
import { formatCount, formatNumber } from '../../lib/kernel/format.ts'
import type { CallTokens } from '../../results/ledger/call-tokens.ts'
import { toSpark } from './spark.ts'

/** Maximum tools on the page. The API returns all of them. */
const MAX_TOOLS = 50

const PERCENT = new Intl.NumberFormat('en', { style: 'percent', maximumFractionDigits: 1 })
const NONE = '–'

const savedOf = ({ tokensBefore, tokensSent }: TokenSums): number => tokensBefore - tokensSent

const toRow = (name: string, sums: TokenSums) => {
  const known = (tokens: number): string => (sums.counted === 0 ? NONE : formatNumber(tokens))
  return {
    name,
    calls: formatNumber(sums.calls),
    counted: formatNumber(sums.counted),
    before: known(sums.tokensBefore),
    sent: known(sums.tokensSent),
    saved: known(savedOf(sums)),
  }
}

const shareText = (sums: TokenSums): string =>
  sums.tokensBefore === 0 ? '' : PERCENT.format(savedOf(sums) / sums.tokensBefore)

/** Returns one value per day in the range. The value is 0 for days without calls. */
const byDay = ({ from, to, days }: CallTokens, amountOf: (sums: TokenSums) => number): number[] => {
  const known = new Map(days.map(day => [day.day, amountOf(day)]))
  const count = Math.round((Date.parse(to) - Date.parse(from)) / DAY_MS) + 1
  return Array.from({ length: count }, (_, index) => {
    const day = new Date(Date.parse(from) + index * DAY_MS).toISOString().slice(0, 10)
    return known.get(day) ?? 0
  })
}

const countedText = ({ calls, counted, estimated }: TokenSums): string => {
  const measured =
    calls === counted
      ? `All ${formatCount(calls, 'tool call')} measured.`
      : `${formatNumber(counted)} of ${formatCount(calls, 'tool call')} measured; the others are not included in these figures.`
  return estimated === 0
    ? measured
    : `${measured} ${formatNumber(estimated)} of these are estimates, because long results are not counted in full.`
}

/** Builds the token section of the overview: the cost of results, and the tokens saved by shaping. */
export const toCallTokensPage = (tokens: CallTokens) => {
  const { all, days, tools } = tokens
  const average = all.counted === 0 ? 0 : Math.round(all.tokensSent / all.counted)
  return {
    encoding: tokens.encoding,
    /** Undefined if nothing has been counted yet. */
    figures:
      all.counted === 0
        ? undefined
        : [
            {
              label: 'Tokens saved',
              text: formatNumber(savedOf(all)),
              note: shareText(all),
              spark: toSpark(byDay(tokens, savedOf)),
            },
            {
              label: 'Tokens sent',
              text: formatNumber(all.tokensSent),
              note: `${formatNumber(average)} per call`,
              spark: toSpark(byDay(tokens, ({ tokensSent }) => tokensSent)),
            },
          ],
    counted: countedText(all),
    days: days.toReversed().map(({ day, ...sums }) => toRow(day, sums)),
    tools: tools.slice(0, MAX_TOOLS).map(({ tool, ...sums }) => toRow(tool, sums)),
    moreTools: tools.length > MAX_TOOLS ? formatNumber(tools.length - MAX_TOOLS) : undefined,
  }
}
