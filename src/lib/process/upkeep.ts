/** How often what has piled up is looked after. */
const EVERY_MS = 60 * 60 * 1_000

/** Work that is due from time to time. It may be cut short and is then done the next time. */
export type Chore = { name: string; run: (signal: AbortSignal) => Promise<void> }

export type UpkeepOptions = {
  chores: readonly Chore[]
  logger: { warn: (details: object, message: string) => void }
}

/** Does the chores one after the other, once at the start and then every hour, for as long as a server runs. */
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
        logger.warn({ err: error, chore: name }, 'a chore could not be done; it is tried again within the hour')
      }
    }
  }

  /** A run that takes longer than an hour is not joined by a second one. */
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
      timer ??= setInterval(() => void run(), EVERY_MS).unref()
    },
    /** Starts nothing more, and waits for the batch under way. */
    close: async (): Promise<void> => {
      stopping.abort()
      clearInterval(timer)
      await underWay
    },
  }
}
