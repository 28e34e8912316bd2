import type { Caller } from '../../servers/access/access.ts'
import { type CallLink, findLogLevel } from '../../upstreams/connection/call-link.ts'
import { type Call, type CallOrigin, createCall, type RunningCall } from '../call.ts'
import { callTool, findTool } from '../call-tool.ts'
import type { ClientChannel } from '../client-channel.ts'
import type { ReportFault } from '../http-exchange.ts'
import { isRequestId, type NotificationMessage, type RequestMessage, type ResponseMessage } from '../message.ts'
import { ERROR } from '../protocol.ts'
import type { Router } from '../registry/router.ts'
import { findUnlisted, listTools } from '../registry/unlisted.ts'
import { respondPlainly } from '../respond.ts'
import { errorResponse, invalidParams, isRefusal, type RpcResponse, refusal, resultResponse } from '../rpc-response.ts'
import { mayAskUpstream, requestUpstream } from './ask-upstream.ts'
import { createCallLink } from './call-links.ts'
import type { Session } from './session.ts'
import { findAskableClient, listenToLogs, subscribe, unsubscribe } from './session-upstreams.ts'
import { addCall, cancelCalls, removeCall } from './sessions.ts'

const setLevel = (router: Router, session: Session, { id, params }: RequestMessage): RpcResponse => {
  const level = findLogLevel(params?.level)
  if (level === undefined) return errorResponse(id, invalidParams('Invalid params: level is not a log level'))
  session.logLevel = level
  listenToLogs(router, session, level)
  return resultResponse(id, '{}')
}

/** A request in a session. `channel` sends messages to the client before the response. */
type SessionRequest = {
  router: Router
  session: Session
  message: RequestMessage
  caller: Caller
  /** The id of the HTTP request. */
  requestId: string
  channel: ClientChannel
  report: ReportFault
}

const originOf = ({ session, caller, requestId }: SessionRequest): CallOrigin => ({
  caller,
  client: session.client,
  requestId,
})

const linkFor = ({ router, session, message, channel }: SessionRequest): CallLink => ({
  ...createCallLink(message, channel, session, session.logLevel),
  peer: findAskableClient(router, session)?.peer,
})

/** Tracks a running call, so that the client can cancel it until its response is ready. */
const track = (session: Session, call: Call, response: Promise<RpcResponse>): RunningCall => {
  addCall(session, call)
  return { call, response: response.finally(() => removeCall(session, call)) }
}

const startToolCall = (request: SessionRequest): RpcResponse | RunningCall => {
  const { router, session, message, channel, report } = request
  const listed = findTool(router, message.params)
  const found = isRefusal(listed) ? (findUnlisted(router, session, message) ?? listed) : listed
  if (isRefusal(found)) return errorResponse(message.id, found)
  const link = found.routed.tool.isLinked === true ? linkFor(request) : undefined
  const call = createCall(message, originOf(request), channel, link)
  return track(session, call, callTool(router, found, call, 'session', report))
}

/**
 * Starts a request to an upstream. Returns undefined if no upstream offers the resource or prompt that the request
 * names.
 */
const startAsking = (request: SessionRequest): RunningCall | undefined => {
  const { router, session, message, channel, report } = request
  if (!mayAskUpstream(router, message)) return undefined
  const call = createCall(message, originOf(request), channel, linkFor(request))
  const response = requestUpstream(router, message, call, 'session', report)
  return response && track(session, call, response)
}

/** Starts or ends a subscription to a resource. Returns undefined if no upstream has the resource. */
const startSubscribing = (request: SessionRequest): RpcResponse | RunningCall | undefined => {
  const { router, session, message, channel } = request
  const uri = message.params?.uri
  if (router.offers === undefined || typeof uri !== 'string') return undefined
  if (message.method === 'resources/unsubscribe') {
    unsubscribe(session, uri)
    return resultResponse(message.id, '{}')
  }
  const call = createCall(message, originOf(request), channel)
  const response = subscribe(router, session, message, uri, call)
  return response instanceof Promise ? track(session, call, response) : response
}

/** Serves one request of a session, over any transport. Returns the response, or a call that can be cancelled. */
export const serveRequest = (request: SessionRequest): RpcResponse | RunningCall => {
  const { router, session, message } = request
  switch (message.method) {
    case 'tools/call':
      return startToolCall(request)
    case 'tools/list':
      return listTools(router, session, message)
    case 'ping':
      return resultResponse(message.id, '{}')
    case 'logging/setLevel':
      return setLevel(router, session, message)
    case 'resources/subscribe':
    case 'resources/unsubscribe':
      return startSubscribing(request) ?? respondPlainly(router, message, 'session')
    case 'initialize':
      return errorResponse(message.id, ALREADY_INITIALIZED)
    default:
      return startAsking(request) ?? respondPlainly(router, message, 'session')
  }
}

const ALREADY_INITIALIZED = refusal(400, ERROR.invalidRequest, 'This session is already initialized')

/**
 * Handles messages that need no response: responses to an upstream's requests, cancellations and changes of roots.
 * Ignores other notifications.
 */
export const receiveMessage = (
  { offers }: Router,
  session: Session,
  message: NotificationMessage | ResponseMessage,
): void => {
  if (message.kind === 'response') {
    session.upstreams?.askable?.receive(message)
    return
  }
  const { method, params } = message
  if (method === 'notifications/roots/list_changed') {
    const peer = session.upstreams?.askable?.peer
    if (peer !== undefined) offers?.tellRootsChanged(peer)
    return
  }
  if (method !== 'notifications/cancelled') return
  const requestId = params?.requestId
  if (isRequestId(requestId)) cancelCalls(session.calls, requestId)
}
