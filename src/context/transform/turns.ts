/** Waiting of this many for their turn, of one owner: then it is refused at once. */
const MAX_WAITING_OF_OWNER = 100

type Waiting = { owner: string; begin: () => void }

/** Why there is no turn. */
export class NoTurn extends Error {}

/**
 * Lets `maxAtOnce` run at once, and of each owner one: whoever runs what never ends holds up nobody else's. Those who
 * wait go in the order they came.
 */
export const createTurns = (maxAtOnce: number) => {
  const running = new Set<string>()
  const waiting: Waiting[] = []

  const startNext = (): void => {
    if (running.size >= maxAtOnce) return
    const index = waiting.findIndex(({ owner }) => !running.has(owner))
    const [next] = index === -1 ? [] : waiting.splice(index, 1)
    if (next === undefined) return
    running.add(next.owner)
    next.begin()
  }

  const turnOf = (owner: string): Promise<void> => {
    if (waiting.filter(one => one.owner === owner).length >= MAX_WAITING_OF_OWNER) throw new NoTurn()
    const { promise, resolve } = Promise.withResolvers<void>()
    waiting.push({ owner, begin: resolve })
    startNext()
    return promise
  }

  return {
    /** Throws NoTurn where too many of this owner wait already. */
    take: async <T>(owner: string, work: () => Promise<T>): Promise<T> => {
      await turnOf(owner)
      try {
        return await work()
      } finally {
        running.delete(owner)
        startNext()
      }
    },
  }
}
