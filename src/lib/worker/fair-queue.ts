import type { StopSignal } from '../kernel/stop-signal.ts'

/** How long a creator counts as slow by default, after a limit ended one of their jobs. */
const SLOW_MS = 60_000

/**
 * An owner of work, such as a server, the owner's group, such as an organization, and the creator of groups, such as a
 * user. Without a creator, the group counts as its own.
 */
export type Tenant = { owner: string; group: string; creator?: string | undefined }

/**
 * Returns who created a group, or undefined if nobody is known. Returns a promise only if that has to be loaded, which
 * never rejects.
 */
export type FindCreator = (group: string) => string | undefined | Promise<string | undefined>

export class QueueFullError extends Error {
  override readonly name = 'QueueFullError'
}

/** The signal was aborted before the work started. */
export class AbortedError extends Error {
  override readonly name = 'AbortedError'
}

export type QueueLimits = {
  maxRunning: number
  maxRunningOfOwner: number
  maxRunningOfGroup: number
  /** Defaults to the limit of a group. */
  maxRunningOfCreator?: number
  maxWaiting: number
  maxWaitingOfOwner: number
  maxWaitingOfGroup: number
  /** Defaults to the limit of a group. */
  maxWaitingOfCreator?: number
  /** A creator whose work takes longer is marked as slow. Without it, only `markSlow` does so. */
  slowAfterMs?: number
  /** How long a creator counts as slow. */
  slowMs?: number
}

type Place = { owner: string; group: string; creator: string }
type Waiting = Omit<Place, 'owner'> & { start: () => void }

/** Keeps counts by key. Removes keys whose count is 0. */
export const createCounts = () => {
  const counts = new Map<string, number>()
  return {
    of: (key: string): number => counts.get(key) ?? 0,
    add: (key: string, by: number): void => {
      const sum = (counts.get(key) ?? 0) + by
      if (sum === 0) counts.delete(key)
      else counts.set(key, sum)
    },
    entries: (): Iterable<[string, number]> => counts,
  }
}

/**
 * Limits how much work runs at once: in total, per owner, per group and per creator. Waiting owners take turns. The
 * creator with the fewest running jobs goes first, and of that creator the group with the fewest. Slow creators share
 * half of the slots, regardless of how many there are, and go after others who have as many running.
 */
export const createFairQueue = (limits: QueueLimits, now: () => number = () => performance.now()) => {
  const { maxRunningOfGroup, maxRunningOfCreator = maxRunningOfGroup } = limits
  const { maxWaitingOfGroup, maxWaitingOfCreator = maxWaitingOfGroup } = limits
  const { slowAfterMs = Number.POSITIVE_INFINITY, slowMs = SLOW_MS } = limits
  const running = { all: 0, ofOwner: createCounts(), ofGroup: createCounts(), ofCreator: createCounts() }
  const waiting = { all: 0, ofGroup: createCounts(), ofCreator: createCounts() }
  /** Waiting work by owner. The owner that started work most recently is last. */
  const owners = new Map<string, Waiting[]>()
  const slowUntil = new Map<string, number>()

  const isSlow = (creator: string): boolean => (slowUntil.get(creator) ?? 0) > now()

  const markSlow = (creator: string): void => {
    for (const [known, until] of slowUntil) if (until <= now()) slowUntil.delete(known)
    slowUntil.set(creator, now() + slowMs)
  }

  const countRunningSlow = (): number => {
    let sum = 0
    for (const [creator, count] of running.ofCreator.entries()) if (isSlow(creator)) sum += count
    return sum
  }

  const findNextOwner = (): string | undefined => {
    const haveSlowTheirHalf = countRunningSlow() >= limits.maxRunning / 2
    let next: { owner: string; ofCreator: number; slow: number; ofGroup: number } | undefined
    for (const [owner, [first]] of owners) {
      if (first === undefined || running.ofOwner.of(owner) >= limits.maxRunningOfOwner) continue
      const ofGroup = running.ofGroup.of(first.group)
      const ofCreator = running.ofCreator.of(first.creator)
      if (ofGroup >= maxRunningOfGroup || ofCreator >= maxRunningOfCreator) continue
      const slow = isSlow(first.creator) ? 1 : 0
      if (haveSlowTheirHalf && slow === 1) continue
      const order = next === undefined ? -1 : ofCreator - next.ofCreator || slow - next.slow || ofGroup - next.ofGroup
      if (order < 0) next = { owner, ofCreator, slow, ofGroup }
    }
    return next?.owner
  }

  const remove = (owner: string, removed: Waiting): void => {
    const left = owners.get(owner)?.filter(one => one !== removed) ?? []
    owners.delete(owner)
    if (left.length > 0) owners.set(owner, left)
    waiting.all--
    waiting.ofGroup.add(removed.group, -1)
    waiting.ofCreator.add(removed.creator, -1)
  }

  const startWaiting = (): void => {
    while (running.all < limits.maxRunning) {
      const owner = findNextOwner()
      const next = owner === undefined ? undefined : owners.get(owner)?.[0]
      if (owner === undefined || next === undefined) return
      remove(owner, next)
      running.all++
      running.ofOwner.add(owner, 1)
      running.ofGroup.add(next.group, 1)
      running.ofCreator.add(next.creator, 1)
      next.start()
    }
  }

  const waitForStart = ({ owner, group, creator }: Place, signal: StopSignal | undefined): Promise<void> => {
    if (signal?.aborted === true) throw new AbortedError()
    const ofOwner = owners.get(owner) ?? []
    const isFull =
      waiting.all >= limits.maxWaiting ||
      ofOwner.length >= limits.maxWaitingOfOwner ||
      waiting.ofGroup.of(group) >= maxWaitingOfGroup ||
      waiting.ofCreator.of(creator) >= maxWaitingOfCreator
    if (isFull) throw new QueueFullError()
    const { promise, resolve, reject } = Promise.withResolvers<void>()
    const giveUp = (): void => {
      remove(owner, own)
      reject(new AbortedError())
    }
    const start = (): void => {
      signal?.removeEventListener('abort', giveUp)
      resolve()
    }
    const own = { group, creator, start }
    signal?.addEventListener('abort', giveUp, { once: true })
    owners.set(owner, [...ofOwner, own])
    waiting.all++
    waiting.ofGroup.add(group, 1)
    waiting.ofCreator.add(creator, 1)
    startWaiting()
    return promise
  }

  return {
    /** Runs work when a slot is free. Throws QueueFullError or AbortedError if the work never starts. */
    run: async <T>(
      { owner, group, creator = group }: Tenant,
      work: () => Promise<T>,
      signal?: StopSignal,
    ): Promise<T> => {
      await waitForStart({ owner, group, creator }, signal)
      const startedAt = now()
      try {
        return await work()
      } finally {
        if (now() - startedAt > slowAfterMs) markSlow(creator)
        running.all--
        running.ofOwner.add(owner, -1)
        running.ofGroup.add(group, -1)
        running.ofCreator.add(creator, -1)
        startWaiting()
      }
    },
    /** Returns how much work runs and waits at the moment. */
    counts: () => ({ running: running.all, waiting: waiting.all }),
    /** Marks a creator as slow, because a limit ended one of their jobs. */
    markSlow,
  }
}
