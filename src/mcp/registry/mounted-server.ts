import { isDeepStrictEqual } from 'node:util'
import type { CompiledPassthrough } from '../../runtime/call/compiled-passthrough.ts'
import type { AccessPolicy } from '../../servers/access/access.ts'
import type { HttpExchange } from '../http-exchange.ts'
import { LIST_KINDS, type ListKind } from '../protocol.ts'
import { type EventStream, openEventStream } from '../streams/event-stream.ts'
import type { Router } from './router.ts'

/** Receives changes of a server: a session, a listen request or an HTTP+SSE connection. */
export type Subscriber = {
  /** A list has changed. */
  listChanged: (kind: ListKind) => void
  /** Ends streams whose callers no longer have access. With `userId`, checks only this user's streams. */
  checkAccess: (policy: AccessPolicy, userId?: string) => void
  /** Called at intervals: keeps streams alive and drops finished ones. */
  beat: () => void
  /** The server was deleted or the process is stopping. */
  end: () => void
}

/** A token can be revoked without a change of the server, so access is checked again after this many beats. */
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
 * Whether another party now handles the requests: us instead of an upstream, an upstream instead of
 * us, or another upstream.
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
    /** The current router. A request reads it once. */
    get router() {
      return router
    },
    get openStreams() {
      return openStreams
    },
    /** Whether `end` was called. No stream or subscription may start after that. */
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
      // After `end`, it would get no notifications or access checks.
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
    /** Checks access again for the callers of open streams, or for one user only. */
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
