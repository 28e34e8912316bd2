import type { AccessPolicy } from '../execution/index.ts'
import type { Router } from './router.ts'

/** Whoever wants to hear of changes: a session, a listen request, an HTTP+SSE connection. */
export type Subscriber = {
  openStreams: () => number
  toolsChanged: () => void
  /** Who may use the server is another now: ends what its caller may no longer have. */
  accessChanged: (policy: AccessPolicy) => void
  beat: () => void
  /** Called when the server is gone or the process stops. */
  end: () => void
}

export type Mounted = {
  readonly serverId: string
  /** The router of now. A request reads it once. */
  readonly router: Router
  /** Replaces the router and tells the subscribers what is new. */
  swap: (router: Router) => void
  subscribe: (subscriber: Subscriber) => void
  unsubscribe: (subscriber: Subscriber) => void
  openStreams: () => number
  beat: () => void
  end: () => void
}

const isSamePolicy = (a: AccessPolicy, b: AccessPolicy): boolean =>
  a.tier === b.tier &&
  a.organizationId === b.organizationId &&
  a.ownerId === b.ownerId &&
  a.allowedUserIds.size === b.allowedUserIds.size &&
  [...a.allowedUserIds].every(id => b.allowedUserIds.has(id))

export const createMounted = (serverId: string, first: Router): Mounted => {
  let router = first
  const subscribers = new Set<Subscriber>()
  const areToolsSame = (next: Router): boolean => {
    const now = next.lists.get('tools/list')
    return now !== undefined && router.lists.get('tools/list')?.isEqual(now) === true
  }
  return {
    serverId,
    get router() {
      return router
    },
    swap: next => {
      const hasNewTools = !areToolsSame(next)
      const hasNewAccess = !isSamePolicy(router.server.access, next.server.access)
      router = next
      for (const subscriber of subscribers) {
        if (hasNewAccess) subscriber.accessChanged(next.server.access)
        if (hasNewTools) subscriber.toolsChanged()
      }
    },
    subscribe: subscriber => {
      subscribers.add(subscriber)
    },
    unsubscribe: subscriber => {
      subscribers.delete(subscriber)
    },
    openStreams: () => {
      let count = 0
      for (const subscriber of subscribers) count += subscriber.openStreams()
      return count
    },
    beat: () => {
      for (const subscriber of subscribers) subscriber.beat()
    },
    end: () => {
      for (const subscriber of subscribers) subscriber.end()
      subscribers.clear()
    },
  }
}
