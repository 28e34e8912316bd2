import { formatDuration, formatNumber } from '../platform/http/index.ts'
import type { PatchState } from './patch/patch.ts'

/** Calls of one tool within the time that a page speaks of, such as the last day. */
export type ToolFigures = {
  /** The MCP tool name. */
  tool: string
  calls: number
  errors: number
  /** Half of the calls took so long or less. */
  p50Ms: number
  /** Whether the last call failed. */
  isFailing: boolean
}

/** From this on a source is called slow: people wait for a model that waits for it. */
const SLOW_MS = 1_500

/** Half of all calls took so long or less, as near as that can be told from the tools' own medians. */
const medianOf = (figures: readonly ToolFigures[], calls: number): number => {
  let passed = 0
  for (const { p50Ms, calls: of } of [...figures].sort((a, b) => a.p50Ms - b.p50Ms)) {
    passed += of
    if (passed * 2 >= calls) return p50Ms
  }
  return 0
}

/** "3 of 61 calls failed". */
export const failedInWords = (errors: number, calls: number): string =>
  `${formatNumber(errors)} of ${formatNumber(calls)} ${calls === 1 ? 'call' : 'calls'} failed`

/** How a source does, by the calls of its tools: the state, and the same in words. */
export const toHealth = (figures: readonly ToolFigures[]): { state: PatchState; health: string } => {
  const calls = figures.reduce((sum, figure) => sum + figure.calls, 0)
  const errors = figures.reduce((sum, figure) => sum + figure.errors, 0)
  if (calls === 0) return { state: 'idle', health: 'not called' }
  if (errors * 2 >= calls) return { state: 'failed', health: failedInWords(errors, calls) }
  const medianMs = medianOf(figures, calls)
  return medianMs >= SLOW_MS
    ? { state: 'slow', health: `slow, ${formatDuration(medianMs)}` }
    : { state: 'good', health: `answering, ${formatDuration(medianMs)}` }
}
