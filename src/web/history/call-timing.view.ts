import { type CallAttempt, type CallTiming, TIMING_PHASES } from '../../history/execution-record.ts'
import { formatDuration } from '../../lib/kernel/format.ts'
import { statusWithPhrase } from '../../lib/outbound/reason-phrase.ts'

/** Cause of a phase, which selects its color: Patchbay itself, waiting for a connection, or the API. */
type Owner = 'own' | 'wait' | 'api'

const PHASES: Readonly<Record<(typeof TIMING_PHASES)[number], { text: string; owner: Owner }>> = {
  resolveMs: { text: 'Resolve the arguments', owner: 'own' },
  queueMs: { text: 'Wait for a free connection', owner: 'wait' },
  dnsMs: { text: 'Look up the host', owner: 'wait' },
  connectMs: { text: 'Connect, TLS', owner: 'wait' },
  firstByteMs: { text: 'Wait for the response', owner: 'api' },
  bodyMs: { text: 'Read the response', owner: 'api' },
  shapeMs: { text: 'Shape and mask', owner: 'own' },
}

const BAR_WIDTH = 100
/** A shorter bar would not be visible. */
const MIN_BAR = 1

/** Returns the bar of a phase on a line as long as the whole duration. */
const barOf = (startMs: number, ms: number, wholeMs: number) => {
  const width = Math.max(MIN_BAR, (ms / wholeMs) * BAR_WIDTH)
  const x = Math.min((startMs / wholeMs) * BAR_WIDTH, BAR_WIDTH - width)
  return { x: x.toFixed(1), width: width.toFixed(1) }
}

/** Builds the phases of a call as rows with bars, one after the other. Undefined if nothing was measured. */
export const toTimingRows = (timing: CallTiming | undefined, durationMs: number) => {
  const measured = TIMING_PHASES.flatMap(phase => {
    const ms = timing?.[phase]
    return ms === undefined ? [] : [{ ...PHASES[phase], ms }]
  })
  if (measured.length === 0) return undefined
  const sumMs = measured.reduce((sum, { ms }) => sum + ms, 0)
  const wholeMs = Math.max(durationMs, sumMs, Number.EPSILON)
  let startMs = 0
  return measured.map(({ text, owner, ms }) => {
    const row = { text, owner, took: formatDuration(ms), bar: barOf(startMs, ms, wholeMs) }
    startMs += ms
    return row
  })
}

/** Builds the attempts of a call that was sent more than once, with bars from the start of the call. */
export const toAttemptRows = (attempts: readonly CallAttempt[] | undefined, durationMs: number) => {
  const endMs = Math.max(durationMs, ...(attempts ?? []).map(one => one.startMs + one.durationMs), Number.EPSILON)
  return attempts?.map(({ startMs, durationMs: ms, status, failure }, index) => ({
    text: `${index + 1}`,
    outcome: {
      text: status === undefined ? (failure ?? 'No response') : statusWithPhrase(status),
      state: status === undefined || status >= 500 ? 'failed' : status >= 400 ? 'rejected' : 'good',
    },
    start: formatDuration(startMs),
    took: formatDuration(ms),
    bar: barOf(startMs, ms, endMs),
  }))
}
