import { monitorEventLoopDelay } from 'node:perf_hooks'

/** How often the loop is looked at: ten times a second costs nothing that can be measured. */
const RESOLUTION_MS = 100
/** What is told is of this long at most. */
const WINDOW_MS = 60_000
const NANOSECONDS = 1_000_000

/** How late the event loop was within the last minutes, in milliseconds. */
export type LoopDelay = { p99Ms: number; maxMs: number; since: Date }

/** Watches the event loop from now on, until `close`. */
export const watchLoopDelay = () => {
  const histogram = monitorEventLoopDelay({ resolution: RESOLUTION_MS })
  histogram.enable()
  let since = Date.now()
  let before: LoopDelay | undefined
  /** The histogram counts from one look to the next, of which the resolution is meant. */
  const late = (nanoseconds: number): number => Math.max(0, nanoseconds / NANOSECONDS - RESOLUTION_MS)
  const measure = (): LoopDelay => ({
    p99Ms: histogram.count === 0 ? 0 : late(histogram.percentile(99)),
    maxMs: histogram.count === 0 ? 0 : late(histogram.max),
    since: new Date(since),
  })
  const timer = setInterval(() => {
    before = measure()
    histogram.reset()
    since = Date.now()
  }, WINDOW_MS)
  timer.unref()
  return {
    /** Of the minute that runs, and the one before it. */
    read: (): LoopDelay => {
      const current = measure()
      if (before === undefined) return current
      return {
        p99Ms: Math.max(current.p99Ms, before.p99Ms),
        maxMs: Math.max(current.maxMs, before.maxMs),
        since: before.since,
      }
    },
    close: (): void => {
      clearInterval(timer)
      histogram.disable()
    },
  }
}
