export type GateLimits = { maxAtOnce: number; maxWaiting: number }

/**
 * Lets so much work run at once, lets so much wait its turn in order, and refuses the rest with what `refusal` makes.
 * For work that would otherwise take the whole machine.
 */
export const createGate = ({ maxAtOnce, maxWaiting }: GateLimits, refusal: () => Error) => {
  const waiting: Array<() => void> = []
  let running = 0

  const enter = async (): Promise<void> => {
    if (running < maxAtOnce) {
      running++
      return
    }
    if (waiting.length >= maxWaiting) throw refusal()
    // Who leaves hands its place over: `running` stays as it is.
    await new Promise<void>(resolve => waiting.push(resolve))
  }

  const leave = (): void => {
    const next = waiting.shift()
    if (next === undefined) running--
    else next()
  }

  return {
    pass: async <T>(work: () => Promise<T>): Promise<T> => {
      await enter()
      try {
        return await work()
      } finally {
        leave()
      }
    },
  }
}
