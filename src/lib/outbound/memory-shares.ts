import { createCounts } from '../worker/fair-queue.ts'

export type MemoryLimits = {
  /** Bytes of all responses in memory. */
  maxBytes: number
  maxBytesOfOrganization: number
  /** Limit of all organizations that one user created. Defaults to that of one organization. */
  maxBytesOfCreator?: number
  /** How long a response waits for memory before it fails. */
  maxWaitMs: number
  /** Frees the memory of earlier responses. Called before a large response is received, if others have ended. */
  collectGarbage?: (() => void) | undefined
}

/** A response of this many bytes is worth a garbage collection. */
const LARGE_BYTES = 1_024 * 1_024

/** Share of the memory that no response may use if it is larger than its organization's share. */
const RESERVED_SHARE = 1 / 4

/** The share that is used up, and the bytes of its responses. */
export type UsedMemoryShare = { of: 'organization' | 'creator'; bytes: number }

/** No memory became free within the time limit. */
export class NoMemoryError extends Error {
  override readonly name = 'NoMemoryError'
  /** Undefined if the response waited because of others. */
  readonly usedShare: UsedMemoryShare | undefined
  readonly waitedMs: number

  constructor(usedShare: UsedMemoryShare | undefined, waitedMs: number) {
    super('no memory became free')
    this.usedShare = usedShare
    this.waitedMs = waitedMs
  }
}

/** The memory of one response. `onGranted` or `onRefused` ends each wait. */
export type MemoryHolder = {
  readonly organizationId: string | undefined
  /** Who created the organization, if that is known. Without a creator, the organization counts as its own. */
  readonly creatorId: string | undefined
  onGranted: () => void
  onRefused: (error: NoMemoryError) => void
}

type Waiting = { bytes: number; timer: NodeJS.Timeout }

/**
 * Distributes the memory for responses among organizations. Each may use its share, as may all that one user created,
 * but no more than is left, so that the last of it goes to those who use little. A response that is larger than that is
 * granted if its creator has no other, except for a reserve. Waiting organizations take turns: the creator who uses the
 * least goes first, and of that creator the organization that does.
 */
export const createMemoryShares = ({
  maxBytes,
  maxBytesOfOrganization,
  maxBytesOfCreator = maxBytesOfOrganization,
  maxWaitMs,
  collectGarbage,
}: MemoryLimits) => {
  const unreserved = maxBytes * (1 - RESERVED_SHARE)
  const inUse = { all: 0, ofOrganization: createCounts(), ofCreator: createCounts() }
  const held = new Map<MemoryHolder, number>()
  const waiting = new Map<MemoryHolder, Waiting>()
  /** Bytes of responses that ended since garbage was last collected. */
  let endedBytes = 0

  const organizationOf = ({ organizationId = '' }: MemoryHolder): string => organizationId
  const creatorOf = (holder: MemoryHolder): string => holder.creatorId ?? organizationOf(holder)
  const ofOrganization = (holder: MemoryHolder): number => inUse.ofOrganization.of(organizationOf(holder))
  const ofCreator = (holder: MemoryHolder): number => inUse.ofCreator.of(creatorOf(holder))
  const heldBy = (holder: MemoryHolder): number => held.get(holder) ?? 0

  const fits = (holder: MemoryHolder, bytes: number): boolean => {
    const left = maxBytes - inUse.all
    const isInShare =
      ofOrganization(holder) + bytes <= Math.min(maxBytesOfOrganization, left) &&
      ofCreator(holder) + bytes <= Math.min(maxBytesOfCreator, left)
    if (isInShare) return true
    const hasCreatorNoOther = ofCreator(holder) === heldBy(holder)
    const isOnly = held.size === (held.has(holder) ? 1 : 0)
    return isOnly || (hasCreatorNoOther && inUse.all + bytes <= unreserved)
  }

  /** A response that is larger than all memory, which may be received alone, does not use up the reserve. */
  const withoutReserve = (bytes: number): number => Math.min(bytes, unreserved)

  const makeRoom = (bytes: number): void => {
    if (collectGarbage === undefined || bytes < LARGE_BYTES || endedBytes < LARGE_BYTES) return
    endedBytes = 0
    collectGarbage()
  }

  const add = (holder: MemoryHolder, bytes: number): void => {
    if (bytes < 0) endedBytes -= bytes
    else makeRoom(bytes)
    const before = heldBy(holder)
    const sum = before + bytes
    if (sum === 0) held.delete(holder)
    else held.set(holder, sum)
    inUse.all += withoutReserve(sum) - withoutReserve(before)
    inUse.ofOrganization.add(organizationOf(holder), bytes)
    inUse.ofCreator.add(creatorOf(holder), bytes)
  }

  const stopWaiting = (holder: MemoryHolder): void => {
    clearTimeout(waiting.get(holder)?.timer)
    waiting.delete(holder)
  }

  const findUsedShare = (holder: MemoryHolder, bytes: number): UsedMemoryShare | undefined => {
    const own = heldBy(holder)
    const isUsed = (used: number, max: number): boolean => used > own && used + bytes > max
    const organization = ofOrganization(holder)
    if (isUsed(organization, maxBytesOfOrganization)) return { of: 'organization', bytes: organization }
    const creator = ofCreator(holder)
    return isUsed(creator, maxBytesOfCreator) ? { of: 'creator', bytes: creator } : undefined
  }

  const giveUp = (holder: MemoryHolder): void => {
    const { bytes } = waiting.get(holder) ?? { bytes: 0 }
    stopWaiting(holder)
    holder.onRefused(new NoMemoryError(findUsedShare(holder, bytes), maxWaitMs))
  }

  const findNext = (): MemoryHolder | undefined => {
    let next: MemoryHolder | undefined
    for (const [holder, { bytes }] of waiting) {
      const order =
        next === undefined ? -1 : ofCreator(holder) - ofCreator(next) || ofOrganization(holder) - ofOrganization(next)
      if (order < 0 && fits(holder, bytes)) next = holder
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
      const surplus = heldBy(holder) - bytes
      if (surplus <= 0) return
      add(holder, -surplus)
      grantWaiting()
    },
    countWaiting: (): number => waiting.size,
  }
}

export type MemoryShares = ReturnType<typeof createMemoryShares>
