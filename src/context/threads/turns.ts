/** How long an owner is remembered whose work had to be ended. */
const SUSPECT_MS = 60_000

/** Why there is no turn. */
export class NoTurn extends Error {
  override readonly name = 'NoTurn'
}

/** How many may run at once, and how many wait for it: of all owners together, and of one. */
export type TurnLimits = { maxAtOnce: number; maxOfOwner: number; maxWaiting: number; maxWaitingOfOwner: number }

/**
 * Lets so many run at once, and of each owner so many: whoever runs what never ends holds up nobody else's. Owners who
 * wait have their turns one after the other, however much one of them has brought; those whose work had to be ended
 * lately have half of the turns, however many they are.
 */
export const createTurns = (limits: TurnLimits, now: () => number = () => performance.now()) => {
  const running = new Map<string, number>()
  const suspects = new Map<string, number>()
  /** Of each owner, in the order in which they are next, the oldest first. */
  const waiting = new Map<string, (() => void)[]>()
  let runningCount = 0
  let waitingCount = 0

  const isSuspect = (owner: string): boolean => (suspects.get(owner) ?? 0) > now()

  const runningOfSuspects = (): number =>
    [...running].reduce((sum, [owner, count]) => sum + (isSuspect(owner) ? count : 0), 0)

  const findNextOwner = (): string | undefined => {
    const isHalfSuspect = runningOfSuspects() >= limits.maxAtOnce / 2
    return [...waiting.keys()].find(
      owner => (running.get(owner) ?? 0) < limits.maxOfOwner && !(isHalfSuspect && isSuspect(owner)),
    )
  }

  /** The next of an owner, who is the last to have another one. */
  const takeOut = (owner: string): (() => void) | undefined => {
    const [begin, ...rest] = waiting.get(owner) ?? []
    waiting.delete(owner)
    if (rest.length > 0) waiting.set(owner, rest)
    waitingCount--
    return begin
  }

  const startNext = (): void => {
    if (runningCount >= limits.maxAtOnce) return
    const owner = findNextOwner()
    if (owner === undefined) return
    runningCount++
    running.set(owner, (running.get(owner) ?? 0) + 1)
    takeOut(owner)?.()
  }

  const end = (owner: string): void => {
    runningCount--
    const left = (running.get(owner) ?? 1) - 1
    if (left === 0) running.delete(owner)
    else running.set(owner, left)
    startNext()
  }

  const leave = (owner: string, begin: () => void): void => {
    const left = waiting.get(owner)?.filter(one => one !== begin) ?? []
    if (left.length > 0) waiting.set(owner, left)
    else waiting.delete(owner)
    waitingCount--
  }

  const turnOf = (owner: string, signal: AbortSignal | undefined): Promise<void> => {
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
    waiting.set(owner, [...own, begin])
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

    /** Throws NoTurn where too many wait already, and when `signal` says while it waits that nobody wants it any more. */
    take: async <T>(owner: string, work: () => Promise<T>, signal?: AbortSignal): Promise<T> => {
      await turnOf(owner, signal)
      try {
        return await work()
      } finally {
        end(owner)
      }
    },
  }
}
