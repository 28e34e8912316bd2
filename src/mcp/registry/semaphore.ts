/** Runs works, so many at once; the others wait in the order they came. The first ones start at once. */
export const createSemaphore = (atOnce: number) => {
  const waiting: (() => void)[] = []
  let running = 0
  return async <T>(work: () => Promise<T>): Promise<T> => {
    // Whoever ends hands on its place, so that nobody slips in between.
    if (running >= atOnce) await new Promise<void>(resolve => waiting.push(resolve))
    else running += 1
    try {
      return await work()
    } finally {
      const next = waiting.shift()
      if (next === undefined) running -= 1
      else next()
    }
  }
}
