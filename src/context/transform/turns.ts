/** Waiting of this many for their turn, of one owner: then it is refused at once. */
const MAX_WAITING_OF_OWNER = 100
/** How long an owner is remembered whose work had to be ended. */
const SUSPECT_MS = 60_000

type Waiting = { owner: string; begin: () => void }

/** Why there is no turn. */
export class NoTurn extends Error {}

/**
 * Lets `maxAtOnce` run at once, and of each owner one: whoever runs what never ends holds up nobody else's. Those who
 * wait go in the order they came; owners whose work had to be ended lately have half of the turns, however many they are.
 */
export const createTurns = (maxAtOnce: number, now: () => number = () => performance.now()) => {
  const running = new Set<string>()
  const suspects = new Map<string, number>()
  const waiting: Waiting[] = []

  const isSuspect = (owner: string): boolean => (suspects.get(owner) ?? 0) > now()

  const startNext = (): void => {
    if (running.size >= maxAtOnce) return
    const isHalfSuspect = [...running].filter(isSuspect).length >= maxAtOnce / 2
    const index = waiting.findIndex(({ owner }) => !running.has(owner) && !(isHalfSuspect && isSuspect(owner)))
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
    /** What this owner ran had to be ended. */
    suspect: (owner: string): void => {
      for (const [known, until] of suspects) if (until <= now()) suspects.delete(known)
      suspects.set(owner, now() + SUSPECT_MS)
    },

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
