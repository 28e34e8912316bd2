import { randomUUID } from 'node:crypto'
import { CUT_OFF } from '../../lib/http/drain.ts'
import type { JsonValue } from '../../lib/kernel/json.ts'
import { type BodyLimits, parseBody, readBody } from '../body.ts'
import type { Challenges } from '../challenges.ts'
import { NO_MESSAGE, parseMessage } from '../classify.ts'
import { createChannel } from '../client-channel.ts'
import { acceptsEventStream } from '../headers.ts'
import { type ReportFault, writeHead, writeRefusal, writeResponse } from '../http-exchange.ts'
import type { Message, RequestMessage } from '../message.ts'
import { ERROR, listChanged, SESSION_VERSIONS } from '../protocol.ts'
import type { MountedServer, Subscriber } from '../registry/mounted-server.ts'
import {
  CUT_BY_SHUTDOWN,
  errorResponse,
  isRefusal,
  type Refusal,
  type RpcResponse,
  refusal,
  responseText,
  resultResponse,
} from '../rpc-response.ts'
import { findLackingScopes } from '../scopes.ts'
import { orRefuse, type ServerRequest } from '../server-request.ts'
import { type EventStream, messageEvent } from '../streams/event-stream.ts'
import type { CheckRoom } from '../streams/listen.ts'
import type { WatchAccess } from '../streams/stream-access.ts'
import { parseInitialize } from './initialize.ts'
import { startProgress } from './progress.ts'
import { newSession, type Session } from './session.ts'
import { receiveMessage, serveRequest } from './session-era.ts'
import { notAcceptable, SESSION_NOT_FOUND } from './session-requirements.ts'
import { endSession } from './sessions.ts'

export type HttpSseOptions = {
  /** The public base URL, for the address to which clients post. */
  baseUrl: string
  limits: BodyLimits
  challenges: Challenges
  checkRoom: CheckRoom
  watchAccess: WatchAccess
  now: () => number
  report: ReportFault
}

/** A connection, which is also a session. It exists only in this process and ends with its stream. */
type Connection = {
  stream: EventStream
  session: Session
  isInitialized: boolean
  /** Whether the process is stopping, so that the stream ends after the last response. */
  isEnding: boolean
}

/**
 * Creates the HTTP+SSE transport of 2024-11-05 (basic/transports): one stream for all messages to the client, and POSTs
 * for all messages from the client.
 */
export const createHttpSse = ({ baseUrl, limits, challenges, checkRoom, watchAccess, now, report }: HttpSseOptions) => {
  const connections = new Map<string, Connection>()
  const basePath = new URL(baseUrl).pathname.replace(/\/$/, '')

  const endWhenDone = ({ isEnding, session, stream }: Connection): void => {
    if (isEnding && (session.calls?.length ?? 0) === 0) stream.end()
  }

  const open = (request: ServerRequest): Refusal | undefined => {
    const { http, mounted, caller } = request
    if (!acceptsEventStream(http.headers)) return notAcceptable('text/event-stream')
    const full = checkRoom(mounted)
    if (full !== undefined) return full
    const { serverId } = mounted
    const sessionId = randomUUID()
    const address = `${basePath}/s/${serverId}/messages?sessionId=${sessionId}`
    const stream = mounted.openStream(http, `event: endpoint\ndata: ${address}\n\n`, () => {
      connections.delete(sessionId)
      mounted.unsubscribe(subscriber)
      // Responses are sent only over this stream, so running calls can no longer deliver theirs.
      endSession(connection.session)
    })
    const subscriber: Subscriber = {
      listChanged: kind => stream.send(messageEvent(listChanged(kind))),
      ...watchAccess(request, stream, stream.end),
      end: () => {
        connection.isEnding = true
        endWhenDone(connection)
      },
    }
    const start = { serverId, subject: caller?.userId, version: SESSION_VERSIONS[0], capabilities: [] }
    const session = { ...newSession(start, now()), notify: (json: string) => stream.send(messageEvent(json)) }
    const connection: Connection = { stream, session, isInitialized: false, isEnding: false }
    connections.set(sessionId, connection)
    http.raw.once(CUT_OFF, () => {
      const { calls = [] } = connection.session
      for (const { id } of calls) stream.send(messageEvent(responseText(errorResponse(id, CUT_BY_SHUTDOWN))))
      stream.end()
    })
    mounted.subscribe(subscriber)
    return undefined
  }

  const initialize = (connection: Connection, { router }: MountedServer, request: RequestMessage): RpcResponse => {
    const parsed = parseInitialize(request.params)
    if (isRefusal(parsed)) return errorResponse(request.id, parsed)
    connection.session = { ...connection.session, ...parsed }
    connection.isInitialized = true
    return resultResponse(request.id, router.initialize(parsed.version))
  }

  const serve = (connection: Connection, { mounted, caller, http }: ServerRequest, message: Message): void => {
    const { stream } = connection
    const send = (response: RpcResponse): void => stream.send(messageEvent(responseText(response)))
    if (message.kind !== 'request') {
      receiveMessage(mounted.router, connection.session, message)
      return
    }
    if (message.method === 'initialize' && !connection.isInitialized) {
      send(initialize(connection, mounted, message))
      return
    }
    const { session } = connection
    const channel = createChannel(json => stream.send(messageEvent(json)))
    const { requestId } = http
    const started = serveRequest({ router: mounted.router, session, message, caller, requestId, channel, report })
    if (!('call' in started)) {
      send(started)
      return
    }
    const { call, response } = started
    const stopProgress = call.link === undefined ? startProgress(message, channel.send) : undefined
    const deliver = (done: RpcResponse): void => {
      channel.close()
      stopProgress?.()
      if (!call.signal.aborted) send(done)
      endWhenDone(connection)
    }
    response
      .then(deliver)
      .catch(error => report(error, 'could not send the response to an MCP request', requestId))
      .finally(call.releases.end)
  }

  const receive = (request: ServerRequest, body: JsonValue): Refusal | undefined => {
    const { http, mounted, caller } = request
    const sessionId = new URLSearchParams(http.incoming.url?.split('?', 2)[1]).get('sessionId')
    if (sessionId === null) return refusal(400, ERROR.transport, 'Bad request: the parameter sessionId is required')
    const connection = connections.get(sessionId)
    const isOwn = connection?.session.serverId === mounted.serverId && connection.session.subject === caller?.userId
    if (connection === undefined || !isOwn) return SESSION_NOT_FOUND
    const message = parseMessage(body)
    if (message === undefined) return NO_MESSAGE
    const lacking = findLackingScopes(caller, mounted.router, [message])
    if (lacking !== undefined) {
      const id = message.kind === 'request' ? message.id : null
      writeResponse(http, errorResponse(id, challenges.insufficientScope(http, lacking)))
      return undefined
    }
    writeHead(http, 202, ['content-type', 'text/plain', 'content-length', '8'])
    http.raw.end('Accepted')
    serve(connection, request, message)
    return undefined
  }

  const post = (request: ServerRequest): void => {
    const handleBody = (bytes: Buffer): void => {
      const body = parseBody(bytes, limits)
      const refused = body.ok ? receive(request, body.value) : body.error
      if (refused !== undefined) writeRefusal(request.http, refused)
    }
    readBody(request.http, limits.maxRequestBytes, handleBody, report)
  }

  return { open: orRefuse(open), post }
}
