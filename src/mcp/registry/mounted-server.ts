import { isDeepStrictEqual } from 'node:util'
import type { CompiledPassthrough } from '../../runtime/call/compiled-passthrough.ts'
import type { AccessPolicy } from '../../servers/access/access.ts'
import type { HttpExchange } from '../http-exchange.ts'
import { LIST_KINDS, type ListKind } from '../protocol.ts'
import { type EventStream, openEventStream } from '../streams/event-stream.ts'
import type { Router } from './router.ts'

/** Receives the changes of a server on behalf of a session, a listen request or an HTTP+SSE connection. */
export type Subscriber = {
  /** Called when a list has changed. */
  listChanged: (kind: ListKind) => void
  /** Ends streams whose callers no longer have access. With `userId`, checks only the streams of that user. */
  checkAccess: (policy: AccessPolicy, userId?: string) => void
  /** Called at intervals to keep streams alive and drop finished ones. */
  beat: () => void
  /** Called when the server was deleted or the process is stopping. */
  end: () => void
}

/** A token can be revoked without a change to the server, so access is checked again after this many beats. */
const BEATS_PER_ACCESS_CHECK = 4

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

export const routeOf = (passthrough: CompiledPassthrough | undefined) =>
  passthrough?.route.ok ? passthrough.route.value : undefined

/**
 * Whether a different party now handles the requests: Patchbay instead of an upstream, an upstream instead of Patchbay,
 * or another upstream.
 */
const isOtherService = ({ server: a }: Router, { server: b }: Router): boolean =>
  (a.passthrough === undefined) !== (b.passthrough === undefined) || routeOf(a.passthrough) !== routeOf(b.passthrough)

export const createMountedServer = (serverId: string, first: Router) => {
  let router = first
  let openStreams = 0
  let beats = 0
  let isEnded = false
  const subscribers = new Set<Subscriber>()
  const endAll = (): void => {
    for (const subscriber of subscribers) subscriber.end()
    subscribers.clear()
  }
  const holdOpen = (): (() => void) => {
    openStreams += 1
    return () => {
      openStreams -= 1
    }
  }
  return {
    serverId,
    /** The current router. Each request reads it only once. */
    get router() {
      return router
    },
    get openStreams() {
      return openStreams
    },
    /** Whether `end` has been called. After that, no stream or subscription may start. */
    get isEnded() {
      return isEnded
    },
    /** Replaces the router and notifies the subscribers of changes. */
    swap: (next: Router): void => {
      const before = router
      router = next
      if (isOtherService(before, next)) {
        endAll()
        return
      }
      const changed = changedLists(before, next)
      const hasNewPolicy = !isDeepStrictEqual(before.server.access, next.server.access)
      for (const subscriber of subscribers) {
        if (hasNewPolicy) subscriber.checkAccess(next.server.access)
        for (const kind of changed) subscriber.listChanged(kind)
      }
    },
    subscribe: (subscriber: Subscriber): void => {
      // After `end`, the subscriber would get no notifications or access checks.
      if (isEnded) queueMicrotask(subscriber.end)
      else subscribers.add(subscriber)
    },
    unsubscribe: (subscriber: Subscriber): void => {
      subscribers.delete(subscriber)
    },
    /** Responds with an event stream, which counts as one of this server's open streams. */
    openStream: (http: HttpExchange, first: string, onClose: () => void): EventStream => {
      const release = holdOpen()
      return openEventStream(http, first, () => {
        release()
        onClose()
      })
    },
    /** Counts another open response, such as that of a passed request. Returns the function that releases it. */
    holdOpen,
    /** Checks the access of the callers of all open streams again, or of only one user. */
    checkAccess: (userId: string | undefined): void => {
      for (const subscriber of subscribers) subscriber.checkAccess(router.server.access, userId)
    },
    beat: (): void => {
      beats += 1
      for (const subscriber of subscribers) {
        subscriber.beat()
        if (beats % BEATS_PER_ACCESS_CHECK === 0) subscriber.checkAccess(router.server.access)
      }
    },
    end: (): void => {
      isEnded = true
      endAll()
    },
  }
}
export type MountedServer = ReturnType<typeof createMountedServer>
