import { resultOfRow } from '../call-result.ts'
import { addDuration, addHistogram, emptyHistogram, type Histogram } from './durations.ts'

/** Sums of calls, with the histogram of their durations. The token sums cover only the `counted` calls. */
export type CallAmounts = {
  calls: number
  rejected: number
  failed: number
  counted: number
  tokensSent: number
  tokensBefore: number
  histogram: Histogram
}

/** Tokens sent, and those that would have been sent if nothing had been left out. */
export type SummedTokens = { sent: number; otherwise: number }

export const noAmounts = (): CallAmounts => ({
  ...{ calls: 0, rejected: 0, failed: 0, counted: 0, tokensSent: 0, tokensBefore: 0 },
  histogram: emptyHistogram(),
})

/** Adds the amounts of another sum. */
export const addAmounts = (sum: CallAmounts, added: CallAmounts): void => {
  sum.calls += added.calls
  sum.rejected += added.rejected
  sum.failed += added.failed
  sum.counted += added.counted
  sum.tokensSent += added.tokensSent
  sum.tokensBefore += added.tokensBefore
  addHistogram(sum.histogram, added.histogram)
}

/** Returns whether a call counts as rejected or as failed. Undefined if it succeeded. */
export const problemOf = (call: Parameters<typeof resultOfRow>[0]): 'rejected' | 'failed' | undefined => {
  if (call.outcome === 'ok') return undefined
  const result = resultOfRow(call)
  return result === 'failed' || result === 'timeout' ? 'failed' : 'rejected'
}

/** Adds one call, without its tokens. */
export const addOneCall = (sum: CallAmounts, durationMs: number, problem: ReturnType<typeof problemOf>): void => {
  sum.calls++
  if (problem !== undefined) sum[problem]++
  addDuration(sum.histogram, durationMs)
}

/** Adds the tokens of one call. */
export const addTokensOf = (sum: CallAmounts, { sent, otherwise }: SummedTokens): void => {
  sum.counted++
  sum.tokensSent += sent
  sum.tokensBefore += otherwise
}

type TokenColumns = { tokensSent: number | null; tokensBefore: number | null }

/** Returns the tokens of a stored call, or undefined if they have not been counted. */
export const storedTokens = ({ tokensSent, tokensBefore }: TokenColumns): SummedTokens | undefined =>
  tokensSent === null ? undefined : { sent: tokensSent, otherwise: tokensBefore ?? tokensSent }
