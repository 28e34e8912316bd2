import type { JsonObject } from '../../lib/kernel/json.ts'
import { isLevelWanted, type LogLevel } from '../../upstreams/connection/call-link.ts'
import type { Call } from '../call.ts'
import type { RequestMessage } from '../message.ts'
import { listChanged, resourceUpdated } from '../protocol.ts'
import { groupOf } from '../registry/groups.ts'
import type { Router } from '../registry/router.ts'
import { errorResponse, invalidParams, type RpcResponse, refusal, resultResponse } from '../rpc-response.ts'
import { logNotice } from './call-links.ts'
import type { AskableClient, Session, SessionSubscription, SessionUpstreams } from './session.ts'
import { askableOf, createSessionPeer } from './session-peer.ts'

/** Maximum number of resource subscriptions per session. */
const MAX_SUBSCRIPTIONS = 500

const upstreamsOf = (session: Session): SessionUpstreams => {
  session.upstreams ??= { subscriptions: new Map(), stopLogs: undefined, askable: undefined }
  return session.upstreams
}

/**
 * Returns the object through which upstreams send requests to the session's client, or undefined if the client accepts
 * none.
 */
export const findAskableClient = ({ offers, server }: Router, session: Session): AskableClient | undefined => {
  const capabilities = session.upstreams?.askable === undefined ? askableOf(session.capabilities) : undefined
  if (capabilities !== undefined) {
    const upstreams = upstreamsOf(session)
    const client = createSessionPeer(session, capabilities, () => {
      if ((server.unlisted?.list(client.peer).length ?? 0) > 0) notify(session, listChanged('tools'))
    })
    const end = (): void => {
      client.end()
      offers?.closeOwn(client.peer)
    }
    upstreams.askable = { ...client, end }
  }
  return session.upstreams?.askable
}

/** Pauses a session's subscriptions while the client is not listening. `resumeSubscriptions` resumes them. */
export const pauseSubscriptions = ({ upstreams }: Session): void => {
  for (const one of upstreams?.subscriptions.values() ?? []) {
    one.stop?.()
    one.stop = undefined
  }
}

/** Ends a session's subscriptions and its own connections to upstreams. */
export const releaseUpstreams = (session: Session): void => {
  session.upstreams?.stopLogs?.()
  session.upstreams?.askable?.end()
  pauseSubscriptions(session)
  session.upstreams = undefined
}

/** Sends a message on the client's notification stream, if one is open. */
const notify = (session: Session, json: string): void => {
  if (session.notify === undefined) session.streams?.notify(json)
  else session.notify(json)
}

/** Subscribes to upstreams' log messages of this level or above, including those outside the session's requests. */
export const listenToLogs = ({ offers }: Router, session: Session, level: LogLevel): void => {
  if (offers?.capabilities.logging !== true) return
  const upstreams = upstreamsOf(session)
  upstreams.stopLogs?.()
  upstreams.stopLogs = offers.listenToLogs(level, session, (message: JsonObject) => {
    if (isLevelWanted(message.level, level)) notify(session, logNotice(message))
  })
}

const begin = ({ offers }: Router, session: Session, uri: string, group: string | undefined) =>
  offers?.subscribe(uri, updated => notify(session, resourceUpdated(updated)), group)

const resume = async (router: Router, session: Session, uri: string, one: SessionSubscription): Promise<void> => {
  const taken = await begin(router, session, uri, one.group)
  // The subscription stays paused if the upstream refuses it.
  if (taken === undefined || 'refused' in taken) return
  if (one.stop !== undefined || session.upstreams?.subscriptions.get(uri) !== one) taken.stop()
  else {
    one.stop = taken.stop
    notify(session, resourceUpdated(uri))
  }
}

/**
 * Resumes paused subscriptions when the client listens again. Sends an update for each resource, because changes may
 * have been missed.
 */
export const resumeSubscriptions = async (router: Router, session: Session): Promise<void> => {
  for (const [uri, one] of session.upstreams?.subscriptions ?? []) {
    if (one.stop === undefined) await resume(router, session, uri, one).catch(() => {})
  }
}

/** Subscribes a session to a resource. Returns undefined if no upstream has the resource. */
export const subscribe = (
  router: Router,
  session: Session,
  { id, params }: RequestMessage,
  uri: string,
  call: Call,
): Promise<RpcResponse> | RpcResponse | undefined => {
  const { subscriptions } = upstreamsOf(session)
  if (subscriptions.has(uri)) return resultResponse(id, '{}')
  const tooMany = (): RpcResponse =>
    errorResponse(id, invalidParams(`A session can subscribe to at most ${MAX_SUBSCRIPTIONS} resources`))
  if (subscriptions.size >= MAX_SUBSCRIPTIONS) return tooMany()
  const group = groupOf(params)
  return begin(router, session, uri, group)?.then(taken => {
    if ('refused' in taken) return errorResponse(id, refusal(200, taken.refused.code, taken.refused.message))
    // Meanwhile, the request may have been cancelled, the session may have ended, or the limit may have been reached.
    const isFull = subscriptions.size >= MAX_SUBSCRIPTIONS && !subscriptions.has(uri)
    if (call.signal.aborted || subscriptions.has(uri) || isFull) taken.stop()
    else subscriptions.set(uri, { group, stop: taken.stop })
    if (isFull) return tooMany()
    return resultResponse(id, '{}')
  })
}

export const unsubscribe = (session: Session, uri: string): void => {
  session.upstreams?.subscriptions.get(uri)?.stop?.()
  session.upstreams?.subscriptions.delete(uri)
}
