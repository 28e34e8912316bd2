/** Runs `run` for each key that was added, once however often it was, `waitMs` after the first time. */
export const debounceByKey = (waitMs: number, run: (key: string) => void) => {
  const timers = new Map<string, NodeJS.Timeout>()
  return {
    add: (key: string): void => {
      if (timers.has(key)) return
      const timer = setTimeout(() => {
        timers.delete(key)
        run(key)
      }, waitMs)
      timer.unref()
      timers.set(key, timer)
    },
    clear: (): void => {
      for (const timer of timers.values()) clearTimeout(timer)
      timers.clear()
    },
  }
}
