import { monitorEventLoopDelay } from 'node:perf_hooks'

/** Sampling interval: ten times a second has no measurable cost. */
const RESOLUTION_MS = 100
/** Length of each measurement window. */
const WINDOW_MS = 60_000
const NANOSECONDS = 1_000_000

/** Delay of the event loop during the last one to two minutes, in milliseconds. */
export type LoopDelay = { p99Ms: number; maxMs: number; since: Date }

/** Measures the event loop delay until `close` is called. */
export const watchLoopDelay = () => {
  const histogram = monitorEventLoopDelay({ resolution: RESOLUTION_MS })
  histogram.enable()
  let since = Date.now()
  let before: LoopDelay | undefined
  /** Subtracts the sampling interval: the histogram records the whole time between two samples. */
  const late = (nanoseconds: number): number => Math.max(0, nanoseconds / NANOSECONDS - RESOLUTION_MS)
  const measure = (): LoopDelay => ({
    p99Ms: late(histogram.percentile(99)),
    maxMs: late(histogram.max),
    since: new Date(since),
  })
  const timer = setInterval(() => {
    before = measure()
    histogram.reset()
    since = Date.now()
  }, WINDOW_MS)
  timer.unref()
  return {
    /** Returns the worst values of the current window and the previous one. */
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
