import { BulkheadRejectedError, bulkhead, TimeoutStrategy, timeout, wrap } from 'cockatiel'
import { callerOf } from './cache-key.ts'
import { type CacheLimits, LOOKUPS_AT_ONCE, MAX_LOOKUPS_PER_CALLER, MAX_WAITING_LOOKUPS } from './cache-limits.ts'
import { decompress } from './compression.ts'
import type { SharedAnswer } from './cut-results.store.ts'
import type { SharingOptions } from './row-writer.ts'

type Place = Pick<SharedAnswer, 'key' | 'serverId' | 'holder'>

export type SharedFind = { content: Buffer; about: string }

export type SharedLookupsOptions = Pick<SharingOptions, 'store' | 'now' | 'onFault'> & {
  limits: Pick<CacheLimits, 'ttlMs' | 'maxBytesPerCaller' | 'maxLookupMs'>
}

/** Looks up what other processes have shared, a few at a time; who asks for the same at once waits for one answer. */
export const createSharedLookups = ({ store, limits, now, onFault }: SharedLookupsOptions) => {
  // The turn is held for as long as the database takes, whoever still waits for it.
  const turns = wrap(
    timeout(limits.maxLookupMs, TimeoutStrategy.Aggressive),
    bulkhead(LOOKUPS_AT_ONCE, MAX_WAITING_LOOKUPS),
  )
  const underWay = new Map<string, Promise<SharedFind | undefined>>()
  const callers = new Map<string, number>()

  const read = async (place: Place): Promise<SharedFind | undefined> => {
    const found = await store.find(place, now(), limits.ttlMs)
    if (found === undefined) return undefined
    const content = await decompress(found.content, limits.maxBytesPerCaller)
    return content && { content, about: found.about }
  }

  /** How many lookups a caller has, who is not remembered without any. */
  const count = (caller: string, change: 1 | -1): void => {
    const lookups = (callers.get(caller) ?? 0) + change
    if (lookups === 0) callers.delete(caller)
    else callers.set(caller, lookups)
  }

  const readInTurn = async (place: Place, caller: string): Promise<SharedFind | undefined> => {
    count(caller, 1)
    try {
      return await turns.execute(() => read(place))
    } catch (error) {
      if (!(error instanceof BulkheadRejectedError)) onFault(error)
      return undefined
    } finally {
      count(caller, -1)
      underWay.delete(place.key)
    }
  }

  /**
   * undefined also where the database cannot say, or too many ask, or one asks for too much at once. What is found is told to `onFound` once, before
   * anybody who waited has it. The content is shared by them.
   */
  return (place: Place, onFound: (found: SharedFind) => Promise<void>): Promise<SharedFind | undefined> => {
    const begun = underWay.get(place.key)
    if (begun !== undefined) return begun
    const caller = callerOf(place.serverId, place.holder)
    if ((callers.get(caller) ?? 0) >= MAX_LOOKUPS_PER_CALLER) return Promise.resolve(undefined)
    const found = readInTurn(place, caller).then(async one => {
      if (one !== undefined) await onFound(one)
      return one
    })
    underWay.set(place.key, found)
    return found
  }
}
