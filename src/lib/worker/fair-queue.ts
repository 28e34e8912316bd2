import type { StopSignal } from '../kernel/stop-signal.ts'

/** How long a group counts as slow after a limit ended one of its jobs. */
const SLOW_MS = 60_000

/** An owner of work, such as a server, and the owner's group, such as an organization. */
export type Tenant = { owner: string; group: string }

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
  maxWaiting: number
  maxWaitingOfOwner: number
  maxWaitingOfGroup: number
}

type Waiting = { group: string; start: () => void }

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
 * Limits how much work runs at once: in total, per owner and per group. Waiting owners take turns, and the group with
 * the fewest running jobs goes first. Slow groups share half of the slots, regardless of how many groups are slow.
 */
export const createFairQueue = (limits: QueueLimits, now: () => number = () => performance.now()) => {
  const running = { all: 0, ofOwner: createCounts(), ofGroup: createCounts() }
  const waiting = { all: 0, ofGroup: createCounts() }
  /** Waiting work by owner. The owner that started work most recently is last. */
  const owners = new Map<string, Waiting[]>()
  const slowUntil = new Map<string, number>()

  const isSlow = (group: string): boolean => (slowUntil.get(group) ?? 0) > now()

  const countRunningSlow = (): number => {
    let sum = 0
    for (const [group, count] of running.ofGroup.entries()) if (isSlow(group)) sum += count
    return sum
  }

  const findNextOwner = (): string | undefined => {
    const haveSlowTheirHalf = countRunningSlow() >= limits.maxRunning / 2
    let next: { owner: string; running: number } | undefined
    for (const [owner, [first]] of owners) {
      if (first === undefined || running.ofOwner.of(owner) >= limits.maxRunningOfOwner) continue
      const runningOfGroup = running.ofGroup.of(first.group)
      if (runningOfGroup >= limits.maxRunningOfGroup || (haveSlowTheirHalf && isSlow(first.group))) continue
      if (next === undefined || runningOfGroup < next.running) next = { owner, running: runningOfGroup }
    }
    return next?.owner
  }

  const remove = (owner: string, removed: Waiting): void => {
    const left = owners.get(owner)?.filter(one => one !== removed) ?? []
    owners.delete(owner)
    if (left.length > 0) owners.set(owner, left)
    waiting.all--
    waiting.ofGroup.add(removed.group, -1)
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
      next.start()
    }
  }

  const waitForStart = ({ owner, group }: Tenant, signal: StopSignal | undefined): Promise<void> => {
    if (signal?.aborted === true) throw new AbortedError()
    const ofOwner = owners.get(owner) ?? []
    const isFull =
      waiting.all >= limits.maxWaiting ||
      ofOwner.length >= limits.maxWaitingOfOwner ||
      waiting.ofGroup.of(group) >= limits.maxWaitingOfGroup
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
    const own = { group, start }
    signal?.addEventListener('abort', giveUp, { once: true })
    owners.set(owner, [...ofOwner, own])
    waiting.all++
    waiting.ofGroup.add(group, 1)
    startWaiting()
    return promise
  }

  return {
    /** Runs work when a slot is free. Throws QueueFullError or AbortedError if the work never starts. */
    run: async <T>(tenant: Tenant, work: () => Promise<T>, signal?: StopSignal): Promise<T> => {
      await waitForStart(tenant, signal)
      try {
        return await work()
      } finally {
        running.all--
        running.ofOwner.add(tenant.owner, -1)
        running.ofGroup.add(tenant.group, -1)
        startWaiting()
      }
    },
    /** Marks a group as slow, because a limit ended one of its jobs. */
    markSlow: (group: string): void => {
      for (const [known, until] of slowUntil) if (until <= now()) slowUntil.delete(known)
      slowUntil.set(group, now() + SLOW_MS)
    },
  }
}
