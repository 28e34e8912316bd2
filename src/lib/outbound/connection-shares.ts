import { createCounts } from '../worker/fair-queue.ts'

/** Limits of one organization at an origin. */
export type OrganizationShare = {
  maxSockets: number
  /** Limit of all organizations that one user created. Defaults to that of one organization. */
  maxSocketsOfCreator?: number
  /** How long a request waits for a connection before it fails. */
  maxWaitMs: number
}

/** A request that needs a connection. After `startWaiting`, it either gets one or `fail` is called, once. */
export type WaitingRequest = {
  /** The organization that the request is made for. Undefined for Patchbay's own requests. */
  readonly organizationId: string | undefined
  /** Who created the organization, if that is known. */
  readonly creatorId: string | undefined
  fail: (error: Error) => void
}

/** The share that is used up, and the number of its requests in progress. */
export type UsedShare = { of: 'organization' | 'creator'; requests: number }

/** No connection became free within the time limit. */
export class NoConnectionError extends Error {
  override readonly name = 'NoConnectionError'
  /** Undefined if the request waited because of others. */
  readonly usedShare: UsedShare | undefined
  readonly waitedMs: number

  constructor(usedShare: UsedShare | undefined, waitedMs: number) {
    super('no connection became free')
    this.usedShare = usedShare
    this.waitedMs = waitedMs
  }
}

/** An organization and its creator. Without a creator, the organization counts as its own. */
type Place = { organization: string; creator: string }

const placeOf = ({ organizationId = '', creatorId = organizationId }: Owned): Place => ({
  organization: organizationId,
  creator: creatorId,
})

type Owned = Pick<WaitingRequest, 'organizationId' | 'creatorId'>
type Waiting<Request> = Map<Request, NodeJS.Timeout | undefined>

/**
 * Distributes the connections to one origin among organizations. Each may use its share, as may all that one user
 * created, but no more connections than are left. The last ones therefore go to those who use few. Waiting organizations
 * take turns. The creator who uses the fewest connections goes first, and of that creator the organization that does.
 * Without a share, only the total is limited.
 */
export const createConnectionShares = <Request extends WaitingRequest>(
  maxSockets: number,
  share: OrganizationShare | undefined,
) => {
  const inUse = { all: 0, ofOrganization: createCounts(), ofCreator: createCounts() }
  /** Waiting requests and their timers by organization. The organization that got a connection last is last. */
  const waiting = new Map<string, Waiting<Request>>()

  const maxOfCreator = ({ maxSockets, maxSocketsOfCreator = maxSockets }: OrganizationShare): number =>
    maxSocketsOfCreator

  const mayStart = ({ organization, creator }: Place): boolean => {
    const left = maxSockets - inUse.all
    if (share === undefined) return left > 0
    return (
      inUse.ofOrganization.of(organization) < Math.min(share.maxSockets, left) &&
      inUse.ofCreator.of(creator) < Math.min(maxOfCreator(share), left)
    )
  }

  const count = ({ organization, creator }: Place, by: 1 | -1): void => {
    inUse.all += by
    inUse.ofOrganization.add(organization, by)
    inUse.ofCreator.add(creator, by)
  }

  const findUsedShare = ({ organization, creator }: Place, own: OrganizationShare): UsedShare | undefined => {
    const ofOrganization = inUse.ofOrganization.of(organization)
    if (ofOrganization >= own.maxSockets) return { of: 'organization', requests: ofOrganization }
    const ofCreator = inUse.ofCreator.of(creator)
    return ofCreator >= maxOfCreator(own) ? { of: 'creator', requests: ofCreator } : undefined
  }

  const remove = (request: Request): void => {
    const { organization } = placeOf(request)
    const requests = waiting.get(organization)
    clearTimeout(requests?.get(request))
    requests?.delete(request)
    if (requests?.size === 0) waiting.delete(organization)
  }

  const giveUp = (request: Request, own: OrganizationShare): void => {
    remove(request)
    request.fail(new NoConnectionError(findUsedShare(placeOf(request), own), own.maxWaitMs))
  }

  const findNext = (): Request | undefined => {
    let next: { request: Request; ofCreator: number; ofOrganization: number } | undefined
    for (const requests of waiting.values()) {
      const [request] = requests.keys()
      if (request === undefined) continue
      const place = placeOf(request)
      if (!mayStart(place)) continue
      const ofCreator = inUse.ofCreator.of(place.creator)
      const ofOrganization = inUse.ofOrganization.of(place.organization)
      const order = next === undefined ? -1 : ofCreator - next.ofCreator || ofOrganization - next.ofOrganization
      if (order < 0) next = { request, ofCreator, ofOrganization }
    }
    return next?.request
  }

  return {
    /** Counts a request that may use a connection now. Returns false if it has to wait. */
    tryStart: (request: Request): boolean => {
      const place = placeOf(request)
      if (!mayStart(place)) return false
      count(place, 1)
      return true
    },
    startWaiting: (request: Request): void => {
      const { organization } = placeOf(request)
      const requests: Waiting<Request> = waiting.get(organization) ?? new Map()
      requests.set(request, share && setTimeout(giveUp, share.maxWaitMs, request, share).unref())
      waiting.set(organization, requests)
    },
    /** Counts a request as finished, and returns the waiting request that uses the connection next, if there is one. */
    finish: (request: Owned): Request | undefined => {
      count(placeOf(request), -1)
      const next = findNext()
      if (next === undefined) return undefined
      const place = placeOf(next)
      const requests = waiting.get(place.organization)
      remove(next)
      if (requests !== undefined && waiting.delete(place.organization)) waiting.set(place.organization, requests)
      count(place, 1)
      return next
    },
    /** Removes a waiting request that no longer needs a connection. */
    remove,
    failAll: (error: Error): void => {
      const requests = [...waiting.values()].flatMap(each => [...each.keys()])
      for (const request of requests) {
        remove(request)
        request.fail(error)
      }
    },
  }
}
