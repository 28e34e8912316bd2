import type { Caller } from '../execution/index.ts'
import type { JsonValue } from '../kernel/index.ts'
import { type Answer, answerText, errorAnswer, type Refusal, refusal } from './answer.ts'
import { type BodyLimits, parseBody, readBody } from './body.ts'
import { type Classified, classify } from './classify.ts'
import type { ReportFault } from './dispatcher.ts'
import { openEventStream } from './event-stream.ts'
import { type Exchange, writeAccepted, writeAnswer, writeHead, writeRefusal } from './exchange.ts'
import { createFeeds } from './feed.ts'
import { acceptsEventStream, acceptsJson, headerOf } from './headers.ts'
import { type CheckRoom, createListen } from './listen.ts'
import { type Message, type RequestMessage, readableId } from './message.ts'
import type { Mounted } from './mounted.ts'
import { BATCH_VERSION, ERROR, findSessionVersion, isStatelessVersion, SESSION_VERSIONS } from './protocol.ts'
import { runCall } from './run-call.ts'
import { isIntroduction, readIntroduction, serveNotification, serveRequest } from './session-era.ts'
import { endSession, type Session, type Sessions } from './sessions.ts'
import { createStateless } from './stateless.ts'
import type { StreamAccess } from './stream-access.ts'

export type StreamableHttpOptions = {
  sessions: Sessions
  limits: BodyLimits & { maxSessionsPerServer: number }
  checkRoom: CheckRoom
  access: StreamAccess
  now: () => number
  report: ReportFault
}

const SESSION_HEADER = 'mcp-session-id'

const notAcceptable = (types: string): Refusal =>
  refusal(406, ERROR.transport, `Not acceptable: the Accept header must list ${types}`)

/** The version header of the session era: what is sent must be one of its versions (basic/transports). */
const checkVersion = ({ headers }: Exchange): Refusal | undefined => {
  const version = headerOf(headers, 'mcp-protocol-version')
  if (version === undefined || findSessionVersion(version) !== undefined) return undefined
  const supported = SESSION_VERSIONS.join(', ')
  return refusal(400, ERROR.transport, `Unsupported protocol version: ${version} (supported: ${supported})`)
}

const namesStateless = ({ headers }: Exchange): boolean => {
  const version = headerOf(headers, 'mcp-protocol-version')
  return version !== undefined && isStatelessVersion(version)
}

/** POST, GET and DELETE of `/s/:uuid`, behind the checks of access. */
export const createStreamableHttp = (options: StreamableHttpOptions) => {
  const { sessions, limits, checkRoom, access, now, report } = options
  const serveStateless = createStateless(createListen(checkRoom, access), report)

  /** The session a request names, or the reason why there is none; the caller must be the one who began it. */
  const findSession = (exchange: Exchange, { serverId }: Mounted, caller: Caller): Session | Refusal => {
    const id = headerOf(exchange.headers, SESSION_HEADER)
    if (id === undefined) return refusal(400, ERROR.transport, 'Bad request: the Mcp-Session-Id header is required')
    const session = sessions.use(serverId, id, caller?.userId)
    return session ?? refusal(404, ERROR.sessionNotFound, 'Session not found')
  }
  const isRefused = (found: Session | Refusal): found is Refusal => 'code' in found

  const begin = (exchange: Exchange, { router }: Mounted, caller: Caller, request: RequestMessage): void => {
    const introduction = readIntroduction(request.params)
    if (!isIntroduction(introduction)) {
      writeAnswer(exchange, errorAnswer(request.id, introduction))
      return
    }
    const { serverId, tier } = router.server.access
    const { version, client, capabilities } = introduction
    const id = sessions.begin({ serverId, subject: caller?.userId, tier, version, client, capabilities })
    if (id === undefined) {
      const most = limits.maxSessionsPerServer
      const why = `This server has ${most} sessions open, as many as it may (PATCHBAY_MAX_SESSIONS_PER_SERVER)`
      writeAnswer(exchange, errorAnswer(request.id, refusal(503, ERROR.transport, why)), ['retry-after', '60'])
      return
    }
    const head = `{"jsonrpc":"2.0","id":${JSON.stringify(request.id)},"result":${router.initialize(version)}}`
    writeAnswer(exchange, { status: 200, head, page: undefined }, [SESSION_HEADER, id])
  }

  const serveSingle = (exchange: Exchange, { router }: Mounted, session: Session, caller: Caller, message: Message) => {
    if (message.kind !== 'request') {
      if (message.kind === 'notification') serveNotification(session, message)
      writeAccepted(exchange)
      return
    }
    const { answer, call } = serveRequest(router, session, message, caller, report)
    if (call === undefined) writeAnswer(exchange, answer)
    else runCall(exchange, message, call, answer, () => session.calls?.delete(call))
  }

  /** All answers of a batch as one; a cancelled request has none (2025-03-26, basic/transports). */
  const serveBatch = (
    exchange: Exchange,
    { router }: Mounted,
    session: Session,
    caller: Caller,
    messages: readonly Message[],
  ): void => {
    const answers: (Answer | Promise<Answer | undefined>)[] = []
    const cancels: (() => void)[] = []
    for (const message of messages) {
      if (message.kind === 'notification') serveNotification(session, message)
      if (message.kind !== 'request') continue
      const { answer, call } = serveRequest(router, session, message, caller, report)
      if (call === undefined) answers.push(answer)
      else {
        cancels.push(call.cancel)
        answers.push(
          answer.then(done => {
            session.calls?.delete(call)
            return call.isCancelled ? undefined : done
          }),
        )
      }
    }
    if (answers.length === 0) {
      writeAccepted(exchange)
      return
    }
    exchange.raw.on('close', () => {
      if (!exchange.raw.writableFinished) for (const cancel of cancels) cancel()
    })
    Promise.all(answers).then(done => {
      if (exchange.raw.destroyed) return
      const texts = done.flatMap(answer => (answer === undefined ? [] : answerText(answer)))
      if (texts.length === 0) writeAccepted(exchange)
      else writeAnswer(exchange, { status: 200, head: `[${texts.join(',')}]`, page: undefined })
    })
  }

  const serveSession = (
    exchange: Exchange,
    mounted: Mounted,
    caller: Caller,
    classified: Exclude<Classified, { era: 'stateless' }>,
  ): void => {
    const { headers } = exchange
    if (!acceptsJson(headers) || !acceptsEventStream(headers)) {
      writeRefusal(exchange, notAcceptable('application/json and text/event-stream'))
      return
    }
    const session = findSession(exchange, mounted, caller)
    if (classified.era === 'session' && classified.message.kind === 'request') {
      const { message } = classified
      if (message.method === 'initialize' && isRefused(session)) {
        begin(exchange, mounted, caller, message)
        return
      }
    }
    if (isRefused(session)) {
      writeRefusal(exchange, session)
      return
    }
    const wrongVersion = checkVersion(exchange)
    if (wrongVersion !== undefined) writeRefusal(exchange, wrongVersion)
    else if (classified.era === 'session') serveSingle(exchange, mounted, session, caller, classified.message)
    else if (session.version !== BATCH_VERSION) {
      const why = `Invalid request: version ${session.version} has no batches`
      writeRefusal(exchange, refusal(400, ERROR.invalidRequest, why))
    } else serveBatch(exchange, mounted, session, caller, classified.messages)
  }

  const serveBody = (exchange: Exchange, mounted: Mounted, caller: Caller, body: JsonValue): void => {
    const { headers } = exchange
    const classified = classify(body, {
      version: headerOf(headers, 'mcp-protocol-version'),
      method: headerOf(headers, 'mcp-method'),
    })
    if (!classified.ok) writeAnswer(exchange, errorAnswer(readableId(body), classified.error))
    else if (classified.value.era === 'stateless') {
      serveStateless(exchange, mounted, caller, classified.value.message)
    } else serveSession(exchange, mounted, caller, classified.value)
  }

  const post = (exchange: Exchange, mounted: Mounted, caller: Caller): void =>
    readBody(exchange, limits.maxRequestBytes, bytes => {
      const body = parseBody(bytes, limits)
      if (body.ok) serveBody(exchange, mounted, caller, body.value)
      else writeRefusal(exchange, body.error)
    })

  /** One stream more of a session, or one that broke and goes on where it stopped. */
  const openStream = (exchange: Exchange, mounted: Mounted, session: Session): void => {
    session.feeds ??= createFeeds(now)
    const { feed, after } = session.feeds.open(headerOf(exchange.headers, 'last-event-id'), mounted)
    const first = session.version >= '2025-11-25' ? feed.prime() : ''
    const stream = openEventStream(exchange, [], first, () => feed.detach(stream, now()))
    feed.attach({ stream, accessChanged: access.watch(exchange, stream.end) }, after)
  }

  const get = (exchange: Exchange, mounted: Mounted, caller: Caller): void => {
    if (namesStateless(exchange)) refuseMethod(exchange, 'POST')
    else if (!acceptsEventStream(exchange.headers)) writeRefusal(exchange, notAcceptable('text/event-stream'))
    else {
      const session = findSession(exchange, mounted, caller)
      const refused = isRefused(session) ? session : (checkVersion(exchange) ?? checkRoom(mounted))
      if (refused !== undefined) writeRefusal(exchange, refused)
      else if (!isRefused(session)) openStream(exchange, mounted, session)
    }
  }

  const remove = (exchange: Exchange, mounted: Mounted, caller: Caller): void => {
    if (namesStateless(exchange)) {
      refuseMethod(exchange, 'POST')
      return
    }
    const session = findSession(exchange, mounted, caller)
    const refused = isRefused(session) ? session : checkVersion(exchange)
    if (refused !== undefined) writeRefusal(exchange, refused)
    else if (!isRefused(session)) {
      endSession(session)
      writeHead(exchange, 200, ['content-length', '0'])
      exchange.raw.end()
    }
  }

  return { post, get, delete: remove }
}

export const refuseMethod = (exchange: Exchange, allowed: string): void =>
  writeRefusal(exchange, refusal(405, ERROR.transport, 'Method not allowed'), ['allow', allowed])
