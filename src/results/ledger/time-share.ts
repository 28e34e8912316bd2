/** What may be taken of a core in each second, and what of it may be saved up, in milliseconds. */
export type TimeShareLimits = { msPerSecond: number; maxSavedMs: number }

/** A share of a core's time: filled up as time goes by, and overdrawn by what takes longer than was left. */
export const createTimeShare = (
  { msPerSecond, maxSavedMs }: TimeShareLimits,
  now: () => number = () => performance.now(),
) => {
  let savedMs = maxSavedMs
  let knownAtMs = now()
  const leftMs = (): number => {
    const nowMs = now()
    savedMs = Math.min(maxSavedMs, savedMs + ((nowMs - knownAtMs) / 1_000) * msPerSecond)
    knownAtMs = nowMs
    return savedMs
  }
  return {
    leftMs,
    spend: (ms: number): void => {
      savedMs = leftMs() - ms
    },
  }
}
