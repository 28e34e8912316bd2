import { createCounts } from '../worker/fair-queue.ts'

/** Limits of one organization at an origin. */
export type OrganizationShare = {
  maxSockets: number
  /** How long a request waits for a connection before it fails. */
  maxWaitMs: number
}

/** A request that needs a connection. After `startWaiting`, it either gets one or `fail` is called, once. */
export type WaitingRequest = {
  /** The organization that the request is made for. Undefined for Patchbay's own requests. */
  readonly organizationId: string | undefined
  fail: (error: Error) => void
}

/** No connection became free within the time limit. */
export class NoConnectionError extends Error {
  override readonly name = 'NoConnectionError'
  /** Number of the organization's own requests in progress, if they use up its share. */
  readonly ownRequests: number | undefined
  readonly waitedMs: number

  constructor(ownRequests: number | undefined, waitedMs: number) {
    super('no connection became free')
    this.ownRequests = ownRequests
    this.waitedMs = waitedMs
  }
}

type Waiting<Request> = Map<Request, NodeJS.Timeout | undefined>

/**
 * Distributes the connections to one origin among organizations. Each may use its share, but no more connections than
 * are left. The last ones therefore go to organizations that use few. Waiting organizations take turns, and the one that
 * uses the fewest connections goes first. Without a share, only the total is limited.
 */
export const createConnectionShares = <Request extends WaitingRequest>(
  maxSockets: number,
  share: OrganizationShare | undefined,
) => {
  const inUse = { all: 0, ofOrganization: createCounts() }
  /** Waiting requests and their timers by organization. The organization that got a connection last is last. */
  const waiting = new Map<string, Waiting<Request>>()

  const keyOf = ({ organizationId = '' }: Pick<Request, 'organizationId'>): string => organizationId

  const mayStart = (organization: string): boolean => {
    const left = maxSockets - inUse.all
    if (share === undefined) return left > 0
    return inUse.ofOrganization.of(organization) < Math.min(share.maxSockets, left)
  }

  const count = (organization: string, by: 1 | -1): void => {
    inUse.all += by
    inUse.ofOrganization.add(organization, by)
  }

  const remove = (request: Request): void => {
    const organization = keyOf(request)
    const requests = waiting.get(organization)
    clearTimeout(requests?.get(request))
    requests?.delete(request)
    if (requests?.size === 0) waiting.delete(organization)
  }

  const giveUp = (request: Request, { maxSockets, maxWaitMs }: OrganizationShare): void => {
    remove(request)
    const own = inUse.ofOrganization.of(keyOf(request))
    request.fail(new NoConnectionError(own < maxSockets ? undefined : own, maxWaitMs))
  }

  const findNext = (): Request | undefined => {
    let next: { request: Request; inUse: number } | undefined
    for (const [organization, requests] of waiting) {
      if (!mayStart(organization)) continue
      const own = inUse.ofOrganization.of(organization)
      const [request] = requests.keys()
      if (request !== undefined && (next === undefined || own < next.inUse)) next = { request, inUse: own }
    }
    return next?.request
  }

  return {
    /** Counts a request that may use a connection now. Returns false if it has to wait. */
    tryStart: (request: Request): boolean => {
      const organization = keyOf(request)
      if (!mayStart(organization)) return false
      count(organization, 1)
      return true
    },
    startWaiting: (request: Request): void => {
      const organization = keyOf(request)
      const requests: Waiting<Request> = waiting.get(organization) ?? new Map()
      requests.set(request, share && setTimeout(giveUp, share.maxWaitMs, request, share).unref())
      waiting.set(organization, requests)
    },
    /** Counts a request as finished, and returns the waiting request that uses the connection next, if there is one. */
    finish: (request: Pick<Request, 'organizationId'>): Request | undefined => {
      count(keyOf(request), -1)
      const next = findNext()
      if (next === undefined) return undefined
      const organization = keyOf(next)
      const requests = waiting.get(organization)
      remove(next)
      if (requests !== undefined && waiting.delete(organization)) waiting.set(organization, requests)
      count(organization, 1)
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
