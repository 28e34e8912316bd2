export type GateLimits = { maxAtOnce: number; maxWaiting: number }

/**
 * Creates a semaphore with a bounded FIFO queue. When the queue is full, `pass` throws the error from `refusal`.
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
    // `leave` hands its slot to the next in line, so `running` does not change.
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
