import { HOUR_MS } from '../kernel/durations.ts'

/** Recurring work, such as removing expired rows. If it is aborted, the next run continues it. */
export type Chore = { name: string; run: (signal: AbortSignal) => Promise<void> }

export type UpkeepOptions = {
  chores: readonly Chore[]
  logger: { warn: (details: object, message: string) => void }
}

/** Runs the chores one after the other, at start and then every hour. */
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

  /** Does not start a second run while one is in progress. */
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
    /** Aborts, and waits for the chore in progress. */
    close: async (): Promise<void> => {
      stopping.abort()
      clearInterval(timer)
      await underWay
    },
  }
}
