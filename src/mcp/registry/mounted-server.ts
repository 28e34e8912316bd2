import type { AccessPolicy } from '../execution/index.ts'
import { type EventStream, openEventStream } from './event-stream.ts'
import type { Exchange } from './exchange.ts'
import { LIST_KINDS, type ListKind } from './protocol.ts'
import type { Router } from './router.ts'

/** Whoever wants to hear of changes: a session, a listen request, an HTTP+SSE connection. */
export type Subscriber = {
  /** One of its lists is not what it was. */
  listChanged: (kind: ListKind) => void
  /** Ends the streams of callers whom the policy does not let in any more; with `userId` it looks at theirs only. */
  checkAccess: (policy: AccessPolicy, userId?: string) => void
  /** From time to time: keeps streams alive, forgets what is over. */
  beat: () => void
  /** The server is gone or the process stops. */
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
  /** Answers with an event stream, counted among those of this server. */
  openStream: (exchange: Exchange, first: string, onClose: () => void) => EventStream
  /** Counts what is open and no stream of ours, such as a request that is passed on, until the answer is called. */
  holdOpen: () => () => void
  readonly openStreams: number
  /** Asks again for the callers of the open streams, or for one user; what they may is not what it was. */
  checkAccess: (userId: string | undefined) => void
  beat: () => void
  end: () => void
  /** Whether it was: nothing that lasts may begin any more. */
  readonly isEnded: boolean
}

/** A token can be revoked without the server changing: every so many beats the callers of streams are checked. */
const BEATS_PER_ACCESS_CHECK = 4

const isSamePolicy = (a: AccessPolicy, b: AccessPolicy): boolean =>
  a.tier === b.tier &&
  a.organizationId === b.organizationId &&
  a.ownerId === b.ownerId &&
  a.allowedUserIds.size === b.allowedUserIds.size &&
  [...a.allowedUserIds].every(id => b.allowedUserIds.has(id))

const METHODS: Readonly<Record<ListKind, readonly string[]>> = {
  tools: ['tools/list'],
  resources: ['resources/list', 'resources/templates/list'],
  prompts: ['prompts/list'],
}

const isSameList = (a: Router, b: Router, method: string): boolean => {
  const list = b.lists.get(method)
  return list !== undefined && a.lists.get(method)?.isEqual(list) === true
}

const changedLists = (a: Router, b: Router): readonly ListKind[] =>
  LIST_KINDS.filter(kind => !METHODS[kind].every(method => isSameList(a, b, method)))

const wayOf = ({ server: { passthrough } }: Router) => (passthrough?.way.ok ? passthrough.way.value : undefined)

/** Whether others answer from now on: us, or an upstream; or that upstream is another, or elsewhere. */
const isOtherService = (a: Router, b: Router): boolean =>
  (a.server.passthrough === undefined) !== (b.server.passthrough === undefined) || wayOf(a) !== wayOf(b)

export const createMounted = (serverId: string, first: Router): Mounted => {
  let router = first
  let openStreams = 0
  let beats = 0
  let isEnded = false
  const subscribers = new Set<Subscriber>()
  const endAll = (): void => {
    for (const subscriber of subscribers) subscriber.end()
    subscribers.clear()
  }
  return {
    serverId,
    get router() {
      return router
    },
    get openStreams() {
      return openStreams
    },
    swap: next => {
      const before = router
      router = next
      if (isOtherService(before, next)) {
        endAll()
        return
      }
      const changed = changedLists(before, next)
      const hasNewPolicy = !isSamePolicy(before.server.access, next.server.access)
      for (const subscriber of subscribers) {
        if (hasNewPolicy) subscriber.checkAccess(next.server.access)
        for (const kind of changed) subscriber.listChanged(kind)
      }
    },
    subscribe: subscriber => {
      // One that took its time to begin would never be told, nor asked again whether it may.
      if (isEnded) queueMicrotask(subscriber.end)
      else subscribers.add(subscriber)
    },
    unsubscribe: subscriber => {
      subscribers.delete(subscriber)
    },
    openStream: (exchange, head, onClose) => {
      openStreams += 1
      return openEventStream(exchange, head, () => {
        openStreams -= 1
        onClose()
      })
    },
    holdOpen: () => {
      openStreams += 1
      return () => {
        openStreams -= 1
      }
    },
    checkAccess: userId => {
      for (const subscriber of subscribers) subscriber.checkAccess(router.server.access, userId)
    },
    beat: () => {
      beats += 1
      for (const subscriber of subscribers) {
        subscriber.beat()
        if (beats % BEATS_PER_ACCESS_CHECK === 0) subscriber.checkAccess(router.server.access)
      }
    },
    end: () => {
      isEnded = true
      endAll()
    },
    get isEnded() {
      return isEnded
    },
  }
}
