import { isJsonObject, type JsonObject, type JsonValue } from '../../lib/kernel/json.ts'
import type { Caller } from '../../servers/access/access.ts'
import type { CallLink } from '../../upstreams/connection/call-link.ts'
import { type Call, createCall, type RunningCall } from '../call.ts'
import type { ClientChannel } from '../client-channel.ts'
import {
  callTool,
  findTool,
  type ReportFault,
  respondNotFound,
  respondUnknown,
  respondWithList,
} from '../respond.ts'
import { clientName } from '../envelope.ts'
import { isRequestId, type NotificationMessage, type RequestMessage, type ResponseMessage } from '../message.ts'
import { ERROR, findLogLevel, findSessionVersion, SESSION_VERSIONS, type SessionVersion } from '../protocol.ts'
import type { Router } from '../registry/router.ts'
import { findUnlisted, listTools } from '../registry/unlisted.ts'
import {
  errorResponse,
  invalidParams,
  isRefusal,
  type Refusal,
  type RpcResponse,
  refusal,
  resultResponse,
} from '../rpc-response.ts'
import { mayAskUpstream, requestUpstream } from './ask-upstream.ts'
import { createCallLink } from './call-links.ts'
import { ASKABLE_NAMES } from './session-peer.ts'
import { findAskableClient, listenToLogs, subscribe, unsubscribe } from './session-upstreams.ts'
import { addCall, cancelCalls, type Session } from './sessions.ts'

/** What a client sends with initialize (basic/lifecycle, "Initialization"). */
export type InitializeParams = {
  version: SessionVersion
  client: string | undefined
  capabilities: readonly string[]
}

/** Known client capabilities. Clients may send any number of others, which are dropped. */
const CAPABILITIES: readonly string[] = ['experimental', 'tasks', ...ASKABLE_NAMES]

/** Whether the client declares a capability, such as `sampling`, or a part of one, such as `sampling.tools`. */
const declares = (capabilities: JsonObject, path: string): boolean => {
  const [name = '', detail] = path.split('.')
  const found = Object.hasOwn(capabilities, name) ? capabilities[name] : undefined
  if (detail === undefined) return found !== undefined
  return isJsonObject(found) && Object.hasOwn(found, detail) && found[detail] !== false
}

/** Maximum size of a client's name as JSON, because it is part of session ids. */
const MAX_CLIENT_BYTES = 240
const CLIENT_CHARACTERS = [200, 100, 40] as const

const shortened = (client: string | undefined): string | undefined => {
  const lengths = client === undefined ? [] : CLIENT_CHARACTERS.map(length => client.slice(0, length))
  return lengths.find(text => Buffer.byteLength(JSON.stringify(text)) <= MAX_CLIENT_BYTES) ?? lengths.at(-1)
}

const hasText = (value: JsonValue | undefined, key: string): boolean =>
  isJsonObject(value) && typeof value[key] === 'string'

/**
 * Parses the parameters of initialize. The version is the client's if we support it, otherwise our newest, which the
 * client may decline.
 */
export const parseInitialize = (params: JsonObject | undefined): InitializeParams | Refusal => {
  const { protocolVersion, capabilities, clientInfo } = params ?? {}
  const wrong = (what: string): Refusal => refusal(400, ERROR.invalidParams, `Invalid params: ${what}`)
  if (typeof protocolVersion !== 'string') return wrong('protocolVersion is missing or not a string')
  if (!isJsonObject(capabilities)) return wrong('capabilities is missing or not an object')
  if (!hasText(clientInfo, 'name') || !hasText(clientInfo, 'version')) return wrong('clientInfo needs name and version')
  return {
    version: findSessionVersion(protocolVersion) ?? SESSION_VERSIONS[0],
    client: shortened(clientName(clientInfo)),
    capabilities: CAPABILITIES.filter(name => declares(capabilities, name)),
  }
}

const setLevel = (router: Router, session: Session, { id, params }: RequestMessage): RpcResponse => {
  const level = findLogLevel(params?.level)
  if (level === undefined) return errorResponse(id, invalidParams('Invalid params: level is not a log level'))
  session.logLevel = level
  listenToLogs(router, session, level)
  return resultResponse(id, '{}')
}

/** A request in a session, and how to send its client messages before the response. */
type SessionRequest = {
  router: Router
  session: Session
  message: RequestMessage
  caller: Caller
  channel: ClientChannel
  report: ReportFault
}

const startCall = ({ session, message, caller, channel }: SessionRequest, link: CallLink | undefined): Call =>
  createCall(message, caller, session.client, channel, link)

const linkFor = ({ router, session, message, channel }: SessionRequest): CallLink => ({
  ...createCallLink(message, channel, session, session.logLevel),
  peer: findAskableClient(router, session)?.peer,
})

const startToolCall = (request: SessionRequest): RpcResponse | RunningCall => {
  const { router, session, message, report } = request
  const listed = findTool(router, message.params)
  const found = isRefusal(listed) ? (findUnlisted(router, session, message) ?? listed) : listed
  if (isRefusal(found)) return errorResponse(message.id, found)
  const call = startCall(request, found.tool.isLinked === true ? linkFor(request) : undefined)
  addCall(session, call)
  return { call, response: callTool(router, found, message, call, 'session', report) }
}

/** Returns undefined if no upstream offers what the request names. */
const startAsking = (request: SessionRequest): RunningCall | undefined => {
  const { router, session, message, report } = request
  if (!mayAskUpstream(router, message)) return undefined
  const call = startCall(request, linkFor(request))
  const response = requestUpstream(router, message, call, 'session', report)
  if (response === undefined) return undefined
  addCall(session, call)
  return { call, response }
}

/** Returns undefined if no upstream has the resource. */
const startSubscribing = (request: SessionRequest): RpcResponse | RunningCall | undefined => {
  const { router, session, message } = request
  const uri = message.params?.uri
  if (router.offers === undefined || typeof uri !== 'string') return undefined
  if (message.method === 'resources/unsubscribe') {
    unsubscribe(session, uri)
    return resultResponse(message.id, '{}')
  }
  const call = startCall(request, undefined)
  const response = subscribe(router, session, message, uri, call)
  if (!(response instanceof Promise)) return response
  addCall(session, call)
  return { call, response }
}

/** Serves one request of a session, over any transport: at once, or as a call that can be cancelled. */
export const serveRequest = (
  router: Router,
  session: Session,
  message: RequestMessage,
  caller: Caller,
  channel: ClientChannel,
  report: ReportFault,
): RpcResponse | RunningCall => {
  const request: SessionRequest = { router, session, message, caller, channel, report }
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
      return startSubscribing(request) ?? respondNotFound(router, message) ?? respondUnknown(message, 'session')
    case 'initialize':
      return errorResponse(message.id, ALREADY_INITIALIZED)
    default:
      return (
        startAsking(request) ??
        respondWithList(router, message, 'session') ??
        respondNotFound(router, message) ??
        respondUnknown(message, 'session')
      )
  }
}

const ALREADY_INITIALIZED = refusal(400, ERROR.invalidRequest, 'This session is already initialized')

/** Passes the client's response on to the upstream that asked. */
export const serveResponse = (session: Session, message: ResponseMessage): void =>
  session.upstreams?.askable?.receive(message)

/** Handles cancellations and changes of roots. Other notifications are ignored. */
export const serveNotification = (
  { offers }: Router,
  session: Session,
  { method, params }: NotificationMessage,
): void => {
  if (method === 'notifications/roots/list_changed') {
    const peer = session.upstreams?.askable?.peer
    if (peer !== undefined) offers?.tellRootsChanged(peer)
    return
  }
  if (method !== 'notifications/cancelled') return
  const requestId = params?.requestId
  if (isRequestId(requestId)) cancelCalls(session.calls, requestId)
}
