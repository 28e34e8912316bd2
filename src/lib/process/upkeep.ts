import { HOUR_MS } from '../kernel/durations.ts'

/** Recurring work, such as removing expired rows. If a run is aborted, the next run continues its work. */
export type Chore = { name: string; run: (signal: AbortSignal) => Promise<void> }

export type UpkeepOptions = {
  chores: readonly Chore[]
  logger: { warn: (details: object, message: string) => void }
}

/** Runs the chores one after another, at startup and then every hour. */
export const createUpkeep = ({ chores, logger }: UpkeepOptions) => {
  const stopping = new AbortController()
  let timer: NodeJS.Timeout | undefined
  let underWay: Promise<void> | undefined

  const runAll = async (): Promise<void> => {
    for (const { name, run } of chores) {
      if (stopping.signal.aborted) return
      try {
        await run(stopping.signal)
      } catch (error) {
        logger.warn({ err: error, chore: name }, 'a chore failed and will be retried within the hour')
      }
    }
  }

  /** Runs all chores. If a run is in progress, waits for it instead of starting another. */
  const run = (): Promise<void> => {
    underWay ??= runAll().finally(() => {
      underWay = undefined
    })
    return underWay
  }

  return {
    run,
    start: (): void => {
      void run()
      timer ??= setInterval(() => void run(), HOUR_MS).unref()
    },
    /** Aborts the chore in progress and waits for it to end. */
    close: async (): Promise<void> => {
      stopping.abort()
      clearInterval(timer)
      await underWay
    },
  }
}
