import type { Caller } from '../execution/index.ts'
import { type Answer, answerText, errorAnswer, refusal, resultAnswer, sizeOf } from './answer.ts'
import type { Classified } from './classify.ts'
import type { ReportFault } from './dispatcher.ts'
import { type Exchange, writeAccepted, writeAnswer, writeRefusal } from './exchange.ts'
import { acceptsEventStream, acceptsJson } from './headers.ts'
import type { Message, RequestId, RequestMessage } from './message.ts'
import type { Mounted } from './mounted.ts'
import { BATCH_VERSION, ERROR } from './protocol.ts'
import { runCall } from './run-call.ts'
import { isIntroduction, readIntroduction, serveNotification, serveRequest, serveResponse } from './session-era.ts'
import { checkVersion, findSession, isRefused, notAcceptable, SESSION_HEADER } from './session-requirements.ts'
import type { SessionStreams } from './session-streams.ts'
import { endCall, type Session, type Sessions } from './sessions.ts'

export type SessionPostsOptions = {
  sessions: Sessions
  streams: SessionStreams
  maxSessionsPerServer: number
  report: ReportFault
}

const isInitialize = (message: Message): message is RequestMessage =>
  message.kind === 'request' && message.method === 'initialize'

/** All answers of a batch together: each may be as long as a page of a list, and there may be a hundred. */
const MAX_BATCH_ANSWER_BYTES = 8 * 1_024 * 1_024

const tooMuch = refusal(
  200,
  ERROR.internal,
  `The answers of this batch are over ${MAX_BATCH_ANSWER_BYTES} bytes together: send this request by itself`,
)

/** The answers as texts, those that no longer fit replaced by errors. `ids` are those of their requests. */
const batchTexts = (ids: readonly RequestId[], answers: readonly (Answer | undefined)[]): string[] => {
  let bytes = 0
  return answers.flatMap((answer, index) => {
    if (answer === undefined) return []
    const size = sizeOf(answer)
    const isFitting = bytes + size <= MAX_BATCH_ANSWER_BYTES
    if (isFitting) bytes += size
    return answerText(isFitting ? answer : errorAnswer(ids[index] ?? null, tooMuch))
  })
}

/** What a POST of the session era brings: a new session, or messages within one. */
export const createSessionPosts = ({ sessions, streams, maxSessionsPerServer, report }: SessionPostsOptions) => {
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
      const why = `This server has ${maxSessionsPerServer} sessions open, as many as it may (PATCHBAY_MAX_SESSIONS_PER_SERVER)`
      writeAnswer(exchange, errorAnswer(request.id, refusal(503, ERROR.transport, why)), ['retry-after', '60'])
      return
    }
    writeAnswer(exchange, resultAnswer(request.id, router.initialize(version)), [SESSION_HEADER, id])
  }

  const serveSingle = (exchange: Exchange, mounted: Mounted, session: Session, caller: Caller, message: Message) => {
    if (message.kind !== 'request') {
      if (message.kind === 'notification') serveNotification(mounted.router, session, message)
      else serveResponse(session, message)
      writeAccepted(exchange)
      return
    }
    const { answer, call } = serveRequest(mounted.router, session, message, caller, report)
    if (call === undefined) {
      writeAnswer(exchange, answer)
      return
    }
    runCall({
      exchange,
      request: message,
      call,
      answer,
      stream: () => streams.streamAnswer(exchange, mounted, session, caller),
      onDone: () => endCall(session, call),
      report,
    })
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
    const ids: RequestId[] = []
    const cancels: (() => void)[] = []
    for (const message of messages) {
      if (message.kind === 'notification') serveNotification(router, session, message)
      if (message.kind === 'response') serveResponse(session, message)
      if (message.kind !== 'request') continue
      ids.push(message.id)
      const { answer, call } = serveRequest(router, session, message, caller, report)
      if (call === undefined) answers.push(answer)
      else {
        cancels.push(call.signal.abort)
        answers.push(
          answer.then(done => {
            endCall(session, call)
            return call.signal.aborted ? undefined : done
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
    const deliver = (done: readonly (Answer | undefined)[]): void => {
      if (exchange.raw.destroyed) return
      const texts = batchTexts(ids, done)
      if (texts.length === 0) writeAccepted(exchange)
      else writeAnswer(exchange, { status: 200, head: `[${texts.join(',')}]`, rest: [] })
    }
    Promise.all(answers)
      .then(deliver)
      .catch(error => report(error, 'the answers of a batch could not be delivered'))
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
    if (classified.era === 'session-batch' && classified.messages.some(isInitialize)) {
      const why = 'Invalid request: initialize cannot be part of a batch'
      writeRefusal(exchange, refusal(400, ERROR.invalidRequest, why))
      return
    }
    const session = findSession(sessions, exchange, mounted, caller)
    if (classified.era === 'session' && isInitialize(classified.message) && isRefused(session)) {
      begin(exchange, mounted, caller, classified.message)
      return
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
  return serveSession
}
