import { formatCount, formatDuration, formatNumber } from '../../lib/kernel/format.ts'
import type { PatchState } from '../diagram/patch.ts'

/** Call statistics of one tool for the period that a page covers, such as the last 24 hours. */
export type ToolFigures = {
  /** The tool's MCP name. */
  tool: string
  calls: number
  rejected: number
  failed: number
  /** Median duration. */
  p50Ms: number
  /** Whether the last call failed. */
  isFailing: boolean
}

/**
 * Median duration at which a source counts as slow. The limit is low because users wait while the model calls tools.
 */
const SLOW_MS = 1_500

/** Estimates the median duration of all calls from the median of each tool, weighted by its calls. */
const medianOf = (figures: readonly ToolFigures[], calls: number): number => {
  let passed = 0
  for (const { p50Ms, calls: of } of [...figures].sort((a, b) => a.p50Ms - b.p50Ms)) {
    passed += of
    if (passed * 2 >= calls) return p50Ms
  }
  return 0
}

/** Describes failures, as in "3 of 61 calls failed". */
export const failedInWords = (failed: number, calls: number): string =>
  `${formatNumber(failed)} of ${formatCount(calls, 'call')} failed`

/** Derives the state of a source and its description from the calls of its tools. */
export const toHealth = (figures: readonly ToolFigures[]): { state: PatchState; health: string } => {
  const calls = figures.reduce((sum, figure) => sum + figure.calls, 0)
  const failed = figures.reduce((sum, figure) => sum + figure.failed, 0)
  const rejected = figures.reduce((sum, figure) => sum + figure.rejected, 0)
  if (calls === 0) return { state: 'idle', health: 'not called' }
  if (failed * 2 >= calls) return { state: 'failed', health: failedInWords(failed, calls) }
  if (rejected * 2 >= calls) {
    return { state: 'slow', health: `${formatNumber(rejected)} of ${formatCount(calls, 'call')} rejected` }
  }
  const medianMs = medianOf(figures, calls)
  return medianMs >= SLOW_MS
    ? { state: 'slow', health: `slow, ${formatDuration(medianMs)}` }
    : { state: 'good', health: `healthy, ${formatDuration(medianMs)}` }
}
