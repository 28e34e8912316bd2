import type { JsonValue } from '../kernel/index.ts'
import type { Answer } from './answer.ts'
import { answerText } from './answer.ts'
import type { Call } from './call.ts'
import { type EventStream, messageEvent, openEventStream } from './event-stream.ts'
import { type Exchange, writeAccepted, writeAnswer } from './exchange.ts'
import { acceptsEventStream } from './headers.ts'
import { isRequestId, metaOf, type RequestMessage } from './message.ts'

/** A call that takes longer than this tells a client that asked for progress that it is still running. */
const FIRST_PROGRESS_AFTER_MS = 1_000
/** Between two such notices; clients give up after a minute of silence. */
const PROGRESS_EVERY_MS = 5_000

const progressNotice = (progressToken: JsonValue, seconds: number): string =>
  JSON.stringify({
    jsonrpc: '2.0',
    method: 'notifications/progress',
    params: { progressToken, progress: seconds, message: `Running for ${seconds} s` },
  })

/**
 * Answers a POST with what a call brings: JSON, or an event stream once the call is slow and the client has asked
 * for progress.
 *
 * A client that goes away cancels its call. The stateless era says so (basic/transports, "Cancellation"). The session
 * era asks not to take a lost connection for a cancellation, for its streams can be resumed; but an answer that was
 * to be plain JSON reaches nobody any more, so all that going on would do is load the API.
 */
export const runCall = (
  exchange: Exchange,
  request: RequestMessage,
  call: Call,
  answer: Promise<Answer>,
  onDone?: () => void,
): void => {
  const { raw } = exchange
  const progressToken = metaOf(request.params)?.progressToken
  let stream: EventStream | undefined
  let timer: NodeJS.Timeout | undefined
  const isOver = (): boolean => raw.writableEnded || raw.destroyed
  if (isRequestId(progressToken) && acceptsEventStream(exchange.headers)) {
    let seconds = FIRST_PROGRESS_AFTER_MS / 1_000
    const notify = (): void => {
      const event = messageEvent(progressNotice(progressToken, seconds))
      if (stream === undefined) stream = openEventStream(exchange, [], event, () => {})
      else stream.send(event)
      seconds += PROGRESS_EVERY_MS / 1_000
      timer = setTimeout(notify, PROGRESS_EVERY_MS)
    }
    timer = setTimeout(notify, FIRST_PROGRESS_AFTER_MS)
  }
  raw.on('close', () => {
    if (raw.writableFinished) return
    call.cancel()
    clearTimeout(timer)
  })
  answer.then(done => {
    clearTimeout(timer)
    onDone?.()
    if (isOver()) return
    if (stream !== undefined) stream.end(call.isCancelled ? undefined : messageEvent(answerText(done)))
    else if (call.isCancelled) writeAccepted(exchange)
    else writeAnswer(exchange, done)
  })
}
