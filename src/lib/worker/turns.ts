/** How long an owner is remembered whose work had to be ended. */
const SUSPECT_MS = 60_000

/** Why there is no turn. */
export class NoTurn extends Error {
  override readonly name = 'NoTurn'
}

/** How many may run at once, and how many wait for it: of all owners together, and of one. */
export type TurnLimits = { maxAtOnce: number; maxOfOwner: number; maxWaiting: number; maxWaitingOfOwner: number }

type Waiting = { group: string; begin: () => void }

const count = (counts: Map<string, number>, key: string, by: number): void => {
  const sum = (counts.get(key) ?? 0) + by
  if (sum === 0) counts.delete(key)
  else counts.set(key, sum)
}

/**
 * Lets so many run at once, and of each owner so many: whoever runs what never ends holds up nobody else's. Owners who
 * wait have their turns one after the other, however much one of them has brought, and those first of whose group the
 * fewest run; those whose work had to be ended lately have half of the turns, however many they are.
 */
export const createTurns = (limits: TurnLimits, now: () => number = () => performance.now()) => {
  const running = new Map<string, number>()
  const runningOfGroup = new Map<string, number>()
  const suspects = new Map<string, number>()
  /** Of each owner, in the order in which they are next, the oldest first. */
  const waiting = new Map<string, Waiting[]>()
  let runningCount = 0
  let waitingCount = 0

  const isSuspect = (owner: string): boolean => (suspects.get(owner) ?? 0) > now()

  const runningOfSuspects = (): number =>
    [...running].reduce((sum, [owner, count]) => sum + (isSuspect(owner) ? count : 0), 0)

  const findNextOwner = (): string | undefined => {
    const isHalfSuspect = runningOfSuspects() >= limits.maxAtOnce / 2
    let next: { owner: string; beside: number } | undefined
    for (const [owner, [first]] of waiting) {
      if ((running.get(owner) ?? 0) >= limits.maxOfOwner || (isHalfSuspect && isSuspect(owner))) continue
      const beside = runningOfGroup.get(first?.group ?? owner) ?? 0
      if (next === undefined || beside < next.beside) next = { owner, beside }
    }
    return next?.owner
  }

  /** The next of an owner, who is the last to have another one. */
  const takeOut = (owner: string): Waiting | undefined => {
    const [next, ...rest] = waiting.get(owner) ?? []
    waiting.delete(owner)
    if (rest.length > 0) waiting.set(owner, rest)
    waitingCount--
    return next
  }

  const startNext = (): void => {
    if (runningCount >= limits.maxAtOnce) return
    const owner = findNextOwner()
    if (owner === undefined) return
    runningCount++
    const next = takeOut(owner)
    count(running, owner, 1)
    count(runningOfGroup, next?.group ?? owner, 1)
    next?.begin()
  }

  const end = (owner: string, group: string): void => {
    runningCount--
    count(running, owner, -1)
    count(runningOfGroup, group, -1)
    startNext()
  }

  const leave = (owner: string, begin: () => void): void => {
    const left = waiting.get(owner)?.filter(one => one.begin !== begin) ?? []
    if (left.length > 0) waiting.set(owner, left)
    else waiting.delete(owner)
    waitingCount--
  }

  const turnOf = (owner: string, group: string, signal: AbortSignal | undefined): Promise<void> => {
    signal?.throwIfAborted()
    const own = waiting.get(owner) ?? []
    if (own.length >= limits.maxWaitingOfOwner || waitingCount >= limits.maxWaiting) throw new NoTurn()
    const { promise, resolve, reject } = Promise.withResolvers<void>()
    const giveUp = (): void => {
      leave(owner, begin)
      reject(new NoTurn())
    }
    const begin = (): void => {
      signal?.removeEventListener('abort', giveUp)
      resolve()
    }
    signal?.addEventListener('abort', giveUp, { once: true })
    waiting.set(owner, [...own, { group, begin }])
    waitingCount++
    startNext()
    return promise
  }

  return {
    /** What this owner ran had to be ended. */
    suspect: (owner: string): void => {
      for (const [known, until] of suspects) if (until <= now()) suspects.delete(known)
      suspects.set(owner, now() + SUSPECT_MS)
    },

    /**
     * Throws NoTurn where too many wait already, and when `signal` says while it waits that nobody wants it any more.
     * `group`: of which owner is one.
     */
    take: async <T>(owner: string, work: () => Promise<T>, signal?: AbortSignal, group = owner): Promise<T> => {
      await turnOf(owner, group, signal)
      try {
        return await work()
      } finally {
        end(owner, group)
      }
    },
  }
}
