import { createCounts } from '../worker/fair-queue.ts'

export type MemoryLimits = {
  /** Bytes of all responses in memory. */
  maxBytes: number
  maxBytesOfOrganization: number
  /** How long a response waits for memory before it fails. */
  maxWaitMs: number
}

/** No memory became free within the time limit. */
export class NoMemoryError extends Error {
  override readonly name = 'NoMemoryError'
  /** Bytes that the organization's own responses use, if they use up its share. */
  readonly ownBytes: number | undefined
  readonly waitedMs: number

  constructor(ownBytes: number | undefined, waitedMs: number) {
    super('no memory became free')
    this.ownBytes = ownBytes
    this.waitedMs = waitedMs
  }
}

/** The memory of one response. `onGranted` or `onRefused` ends each wait. */
export type MemoryHolder = {
  readonly organizationId: string | undefined
  onGranted: () => void
  onRefused: (error: NoMemoryError) => void
}

type Waiting = { bytes: number; timer: NodeJS.Timeout }

/**
 * Distributes the memory for responses among organizations. Each may use its share, but no more than is left, so that
 * the last of it goes to organizations that use little. A response that is larger than that is granted if its
 * organization has no other. Waiting organizations take turns: the one that uses the least goes first.
 */
export const createMemoryShares = ({ maxBytes, maxBytesOfOrganization, maxWaitMs }: MemoryLimits) => {
  const inUse = { all: 0, ofOrganization: createCounts() }
  const held = new Map<MemoryHolder, number>()
  const waiting = new Map<MemoryHolder, Waiting>()

  const keyOf = ({ organizationId = '' }: MemoryHolder): string => organizationId
  const ownBytesOf = (holder: MemoryHolder): number => inUse.ofOrganization.of(keyOf(holder))

  const fits = (holder: MemoryHolder, bytes: number): boolean => {
    const left = maxBytes - inUse.all
    const own = ownBytesOf(holder)
    if (own + bytes <= Math.min(maxBytesOfOrganization, left)) return true
    const isOnly = own === (held.get(holder) ?? 0)
    return isOnly && (bytes <= left || inUse.all === own)
  }

  const add = (holder: MemoryHolder, bytes: number): void => {
    const sum = (held.get(holder) ?? 0) + bytes
    if (sum === 0) held.delete(holder)
    else held.set(holder, sum)
    inUse.all += bytes
    inUse.ofOrganization.add(keyOf(holder), bytes)
  }

  const stopWaiting = (holder: MemoryHolder): void => {
    clearTimeout(waiting.get(holder)?.timer)
    waiting.delete(holder)
  }

  const giveUp = (holder: MemoryHolder): void => {
    const { bytes } = waiting.get(holder) ?? { bytes: 0 }
    stopWaiting(holder)
    const own = ownBytesOf(holder)
    const isShareUsed = own > (held.get(holder) ?? 0) && own + bytes > maxBytesOfOrganization
    holder.onRefused(new NoMemoryError(isShareUsed ? own : undefined, maxWaitMs))
  }

  const findNext = (): MemoryHolder | undefined => {
    let next: MemoryHolder | undefined
    for (const [holder, { bytes }] of waiting) {
      const isFirst = next === undefined || ownBytesOf(holder) < ownBytesOf(next)
      if (isFirst && fits(holder, bytes)) next = holder
    }
    return next
  }

  const grantWaiting = (): void => {
    for (let next = findNext(); next !== undefined; next = findNext()) {
      const bytes = waiting.get(next)?.bytes ?? 0
      stopWaiting(next)
      add(next, bytes)
      next.onGranted()
    }
  }

  return {
    /** Counts more bytes for a response. Returns false if it has to wait. */
    take: (holder: MemoryHolder, bytes: number): boolean => {
      if (fits(holder, bytes)) {
        add(holder, bytes)
        return true
      }
      waiting.set(holder, { bytes, timer: setTimeout(giveUp, maxWaitMs, holder).unref() })
      return false
    },
    /** Gives back what a response holds except for this many bytes, and ends its wait. */
    keepOnly: (holder: MemoryHolder, bytes: number): void => {
      stopWaiting(holder)
      const surplus = (held.get(holder) ?? 0) - bytes
      if (surplus <= 0) return
      add(holder, -surplus)
      grantWaiting()
    },
  }
}

export type MemoryShares = ReturnType<typeof createMemoryShares>
