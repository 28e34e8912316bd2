import type { CallLink } from '../execution/index.ts'
import { isJsonObject, type JsonObject, type JsonValue } from '../kernel/index.ts'
import { type Answer, errorAnswer, invalidParams, type Refusal, refusal, resultAnswer } from './answer.ts'
import { askUpstream, mayBeAsked } from './ask-upstream.ts'
import { type Call, createCall } from './call.ts'
import { createCallLink } from './call-links.ts'
import {
  answerList,
  answerMissing,
  answerUnknown,
  callTool,
  findTool,
  isRefusal,
  type ReportFault,
} from './dispatcher.ts'
import { clientName } from './envelope.ts'
import { isRequestId, type NotificationMessage, type RequestMessage, type ResponseMessage } from './message.ts'
import { ERROR, findLogLevel, findSessionVersion, SESSION_VERSIONS, type SessionVersion } from './protocol.ts'
import type { Router } from './router.ts'
import { ASKABLE_NAMES } from './session-peer.ts'
import { askedSession, listenToLogs, subscribe, unsubscribe } from './session-ties.ts'
import { beginCall, cancelCalls, type Session } from './sessions.ts'
import { answerTools, findUnlisted } from './unlisted.ts'

/** What a client tells of itself when it begins (basic/lifecycle, "Initialization"). */
export type Introduction = {
  version: SessionVersion
  client: string | undefined
  capabilities: readonly string[]
}

/** Capabilities of clients in any version: other names are the client's own, and of any number and length. */
const CAPABILITIES: readonly string[] = ['experimental', 'tasks', ...ASKABLE_NAMES]

/** Whether the client declares it: `sampling`, or `sampling.tools` within. */
const declares = (capabilities: JsonObject, path: string): boolean => {
  const [name = '', detail] = path.split('.')
  const found = Object.hasOwn(capabilities, name) ? capabilities[name] : undefined
  if (detail === undefined) return found !== undefined
  return isJsonObject(found) && Object.hasOwn(found, detail) && found[detail] !== false
}

/** Bytes of a client's name as JSON, escapes and all: it is part of session ids. */
const MAX_CLIENT_BYTES = 240
const CLIENT_CHARACTERS = [200, 100, 40] as const

const shortened = (client: string | undefined): string | undefined => {
  const lengths = client === undefined ? [] : CLIENT_CHARACTERS.map(length => client.slice(0, length))
  return lengths.find(text => Buffer.byteLength(JSON.stringify(text)) <= MAX_CLIENT_BYTES) ?? lengths.at(-1)
}

const hasText = (value: JsonValue | undefined, key: string): boolean =>
  isJsonObject(value) && typeof value[key] === 'string'

/** The version is the client's when we speak it, else our newest: then it is the client's turn to decide. */
export const readIntroduction = (params: JsonObject | undefined): Introduction | Refusal => {
  const { protocolVersion, capabilities, clientInfo } = params ?? {}
  const wrong = (what: string): Refusal => refusal(400, ERROR.invalidParams, `Invalid params: ${what}`)
  if (typeof protocolVersion !== 'string') return wrong('protocolVersion is missing or no string')
  if (!isJsonObject(capabilities)) return wrong('capabilities is missing or no object')
  if (!hasText(clientInfo, 'name') || !hasText(clientInfo, 'version')) return wrong('clientInfo needs name and version')
  return {
    version: findSessionVersion(protocolVersion) ?? SESSION_VERSIONS[0],
    client: shortened(clientName(clientInfo)),
    capabilities: CAPABILITIES.filter(name => declares(capabilities, name)),
  }
}

export const isIntroduction = (value: Introduction | Refusal): value is Introduction => 'version' in value

/** A request in a session, and whether it is under way: then it can be cancelled. */
export type Underway = { answer: Answer; call?: undefined } | { answer: Promise<Answer>; call: Call }

const setLevel = (router: Router, session: Session, { id, params }: RequestMessage): Answer => {
  const level = findLogLevel(params?.level)
  if (level === undefined) return errorAnswer(id, invalidParams('Invalid params: level is no log level'))
  session.logLevel = level
  listenToLogs(router, session, level)
  return resultAnswer(id, '{}')
}

const linkOf = (router: Router, session: Session, request: RequestMessage, call: Call): CallLink => ({
  ...createCallLink(request, call, session, session.logLevel),
  peer: askedSession(router, session)?.peer,
})

const startCall = (router: Router, session: Session, request: RequestMessage, call: Call, report: ReportFault) => {
  const listed = findTool(router, request.params)
  const found = isRefusal(listed) ? (findUnlisted(router, session, request) ?? listed) : listed
  if (isRefusal(found)) return errorAnswer(request.id, found)
  if (found.tool.isLinked === true) call.link = linkOf(router, session, request, call)
  beginCall(session, call)
  return callTool(router, found, request, call, 'session', report)
}

/** Undefined where no upstream answers it. */
const startAsking = (
  router: Router,
  session: Session,
  request: RequestMessage,
  caller: Call['caller'],
  report: ReportFault,
): Underway | undefined => {
  if (!mayBeAsked(router, request)) return undefined
  const call = createCall(request.id, caller, session.client)
  call.link = linkOf(router, session, request, call)
  const answer = askUpstream(router, request, call, 'session', report)
  if (answer === undefined) return undefined
  beginCall(session, call)
  return { answer, call }
}

/** Undefined where no upstream has the resource. */
const startSubscribing = (
  router: Router,
  session: Session,
  request: RequestMessage,
  caller: Call['caller'],
): Underway | undefined => {
  const uri = request.params?.uri
  if (router.offers === undefined || typeof uri !== 'string') return undefined
  if (request.method === 'resources/unsubscribe') {
    unsubscribe(session, uri)
    return { answer: resultAnswer(request.id, '{}') }
  }
  const call = createCall(request.id, caller, session.client)
  const answer = subscribe(router, session, request, uri, call)
  if (!(answer instanceof Promise)) return answer && { answer }
  beginCall(session, call)
  return { answer, call }
}

/** Serves one request of a session, whichever transport it came over. */
export const serveRequest = (
  router: Router,
  session: Session,
  request: RequestMessage,
  caller: Call['caller'],
  report: ReportFault,
): Underway => {
  const { id, method } = request
  switch (method) {
    case 'tools/call': {
      const call = createCall(id, caller, session.client)
      const answer = startCall(router, session, request, call, report)
      return answer instanceof Promise ? { answer, call } : { answer }
    }
    case 'tools/list':
      return { answer: answerTools(router, session, request) }
    case 'ping':
      return { answer: resultAnswer(id, '{}') }
    case 'logging/setLevel':
      return { answer: setLevel(router, session, request) }
    case 'resources/subscribe':
    case 'resources/unsubscribe':
      return (
        startSubscribing(router, session, request, caller) ?? {
          answer: answerMissing(router, request) ?? answerUnknown(request, 'session'),
        }
      )
    case 'initialize':
      return { answer: errorAnswer(id, refusal(400, ERROR.invalidRequest, 'This session is initialized already')) }
    default:
      return (
        startAsking(router, session, request, caller, report) ?? {
          answer:
            answerList(router, request, 'session') ??
            answerMissing(router, request) ??
            answerUnknown(request, 'session'),
        }
      )
  }
}

/** Takes what the client was asked by an upstream. */
export const serveResponse = (session: Session, message: ResponseMessage): void => session.ties?.asked?.receive(message)

/** Cancellations mean something to us, and changed roots to upstreams; what we do not know is taken as read. */
export const serveNotification = (
  { offers }: Router,
  session: Session,
  { method, params }: NotificationMessage,
): void => {
  if (method === 'notifications/roots/list_changed') {
    const peer = session.ties?.asked?.peer
    if (peer !== undefined) offers?.tellRootsChanged(peer)
    return
  }
  if (method !== 'notifications/cancelled') return
  const requestId = params?.requestId
  if (isRequestId(requestId)) cancelCalls(session.calls, requestId)
}
