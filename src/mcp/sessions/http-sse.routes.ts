import { randomUUID } from 'node:crypto'
import type { Caller } from '../execution/index.ts'
import type { JsonValue } from '../kernel/index.ts'
import { type Answer, answerText, errorAnswer, refusal, resultAnswer } from './answer.ts'
import { type BodyLimits, parseBody, readBody } from './body.ts'
import type { Challenges } from './challenges.ts'
import type { ReportFault } from './dispatcher.ts'
import { type EventStream, messageEvent } from './event-stream.ts'
import { type Exchange, writeHead, writeRefusal } from './exchange.ts'
import { acceptsEventStream } from './headers.ts'
import type { CheckRoom } from './listen.ts'
import { type Message, parseMessage, type RequestMessage } from './message.ts'
import type { Mounted, Subscriber } from './mounted.ts'
import { startProgress } from './progress.ts'
import { ERROR, type ListKind, listChangedMethod, SESSION_VERSIONS } from './protocol.ts'
import { findLackingScopes } from './scopes.ts'
import { isIntroduction, readIntroduction, serveNotification, serveRequest, serveResponse } from './session-era.ts'
import { notAcceptable, SESSION_NOT_FOUND } from './session-requirements.ts'
import { endCall, endSession, type Session } from './sessions.ts'
import type { StreamAccess } from './stream-access.ts'

export type HttpSseOptions = {
  /** Where clients see us, for the address that they post to. */
  baseUrl: string
  limits: BodyLimits
  challenges: Challenges
  checkRoom: CheckRoom
  access: StreamAccess
  now: () => number
  report: ReportFault
}

/** The connection is the session: it is known to this process only and ends with its stream. */
type Connection = {
  serverId: string
  stream: EventStream
  session: Session
  isInitialized: boolean
  /** The process stops: the stream ends with the last answer. */
  isEnding: boolean
}

const listChanged = (kind: ListKind): string =>
  messageEvent(JSON.stringify({ jsonrpc: '2.0', method: listChangedMethod(kind) }))

/** The HTTP+SSE transport of 2024-11-05 (basic/transports): a stream for answers, posts for everything else. */
export const createHttpSse = ({ baseUrl, limits, challenges, checkRoom, access, now, report }: HttpSseOptions) => {
  const connections = new Map<string, Connection>()
  const basePath = new URL(baseUrl).pathname.replace(/\/$/, '')

  const newSession = (serverId: string, caller: Caller, notify: Session['notify']): Session => ({
    serverId,
    subject: caller?.userId,
    version: SESSION_VERSIONS[0],
    client: undefined,
    capabilities: [],
    lastUsedAt: now(),
    logLevel: undefined,
    calls: undefined,
    feeds: undefined,
    notify,
    ties: undefined,
  })

  const endWhenDone = ({ isEnding, session, stream }: Connection): void => {
    if (isEnding && (session.calls?.length ?? 0) === 0) stream.end()
  }

  const open = (exchange: Exchange, mounted: Mounted, caller: Caller): void => {
    if (!acceptsEventStream(exchange.headers)) {
      writeRefusal(exchange, notAcceptable('text/event-stream'))
      return
    }
    const full = checkRoom(mounted)
    if (full !== undefined) {
      writeRefusal(exchange, full)
      return
    }
    const { serverId } = mounted
    const sessionId = randomUUID()
    const address = `${basePath}/s/${serverId}/messages?sessionId=${sessionId}`
    const stream = mounted.openStream(exchange, `event: endpoint\ndata: ${address}\n\n`, () => {
      connections.delete(sessionId)
      mounted.unsubscribe(subscriber)
      // Answers come over this stream only, so nobody waits for those under way.
      endSession(connection.session)
    })
    const subscriber: Subscriber = {
      listChanged: kind => stream.send(listChanged(kind)),
      ...access.watch(exchange, mounted, caller, stream, stream.end),
      end: () => {
        connection.isEnding = true
        endWhenDone(connection)
      },
    }
    const session = newSession(serverId, caller, json => stream.send(messageEvent(json)))
    const connection: Connection = { serverId, stream, session, isInitialized: false, isEnding: false }
    connections.set(sessionId, connection)
    mounted.subscribe(subscriber)
  }

  const initialize = (connection: Connection, { router }: Mounted, request: RequestMessage): Answer => {
    const introduction = readIntroduction(request.params)
    if (!isIntroduction(introduction)) return errorAnswer(request.id, introduction)
    const { version, client, capabilities } = introduction
    connection.session = { ...connection.session, version, client, capabilities }
    connection.isInitialized = true
    return resultAnswer(request.id, router.initialize(version))
  }

  const serve = (connection: Connection, mounted: Mounted, caller: Caller, message: Message): void => {
    const { stream } = connection
    const send = (answer: Answer): void => stream.send(messageEvent(answerText(answer)))
    if (message.kind === 'notification') serveNotification(mounted.router, connection.session, message)
    if (message.kind === 'response') serveResponse(connection.session, message)
    if (message.kind !== 'request') return
    if (message.method === 'initialize' && !connection.isInitialized) {
      send(initialize(connection, mounted, message))
      return
    }
    const { session } = connection
    const { answer, call } = serveRequest(mounted.router, session, message, caller, report)
    if (call === undefined) send(answer)
    else {
      const say = (json: string): void => stream.send(messageEvent(json))
      const stopProgress = call.link === undefined ? startProgress(message, say) : undefined
      if (call.link !== undefined) call.say = say
      const deliver = (done: Answer): void => {
        call.say = undefined
        stopProgress?.()
        endCall(session, call)
        if (!call.signal.aborted) send(done)
        endWhenDone(connection)
      }
      answer.then(deliver).catch(error => report(error, 'an answer could not be delivered'))
    }
  }

  const receive = (exchange: Exchange, mounted: Mounted, caller: Caller, body: JsonValue): void => {
    const sessionId = new URLSearchParams(exchange.incoming.url?.split('?', 2)[1]).get('sessionId')
    const connection = sessionId === null ? undefined : connections.get(sessionId)
    const isOwn = connection?.serverId === mounted.serverId && connection.session.subject === caller?.userId
    const message = parseMessage(body)
    const lacking = message && findLackingScopes(caller, mounted.router, [message])
    if (sessionId === null) {
      writeRefusal(exchange, refusal(400, ERROR.transport, 'Bad request: the parameter sessionId is required'))
    } else if (connection === undefined || !isOwn) {
      writeRefusal(exchange, SESSION_NOT_FOUND)
    } else if (message === undefined) {
      const why = 'Invalid request: the body is no JSON-RPC message'
      writeRefusal(exchange, refusal(400, ERROR.invalidRequest, why))
    } else if (lacking !== undefined) {
      challenges.refuseScope(exchange, message.kind === 'request' ? message.id : null, lacking)
    } else {
      writeHead(exchange, 202, ['content-type', 'text/plain', 'content-length', '8'])
      exchange.raw.end('Accepted')
      serve(connection, mounted, caller, message)
    }
  }

  const post = (exchange: Exchange, mounted: Mounted, caller: Caller): void => {
    const take = (bytes: Buffer): void => {
      const body = parseBody(bytes, limits)
      if (body.ok) receive(exchange, mounted, caller, body.value)
      else writeRefusal(exchange, body.error)
    }
    readBody(exchange, limits.maxRequestBytes, take, report)
  }

  return { open, post }
}
