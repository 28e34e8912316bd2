import { type Answer, answerText } from './answer.ts'
import type { Call } from './call.ts'
import type { ReportFault } from './dispatcher.ts'
import { type Exchange, writeAccepted, writeAnswer } from './exchange.ts'
import { acceptsEventStream } from './headers.ts'
import type { RequestMessage } from './message.ts'
import { startProgress } from './progress.ts'

/** An answer that has become an event stream because something precedes it. */
export type StreamedAnswer = {
  send: (json: string) => void
  /** Without a message the stream just ends: whoever cancelled gets no answer. */
  end: (json?: string) => void
  /** Whether a client that lost its connection can come back for the rest. */
  isResumable: boolean
}

export type RunCallOptions = {
  exchange: Exchange
  request: RequestMessage
  call: Call
  answer: Promise<Answer>
  /** Turns the answer into a stream. */
  stream: () => StreamedAnswer
  onDone?: (() => void) | undefined
  report: ReportFault
}

/**
 * Answers a POST with what a call brings: JSON, or an event stream once there is something to say before: the call is
 * slow and the client has asked for progress, or an upstream speaks to the client.
 *
 * A client that goes away cancels its call, as the stateless era wants it (basic/transports, "Cancellation"). The
 * session era asks not to take a lost connection for a cancellation, and there a streamed answer goes on, for the
 * client can come back for it. An answer that was to be plain JSON reaches nobody any more, whatever the era: all
 * that going on would do is to load the API.
 */
export const runCall = ({ exchange, request, call, answer, stream, onDone, report }: RunCallOptions): void => {
  const { raw } = exchange
  let streamed: StreamedAnswer | undefined
  const send = (json: string): void => {
    streamed ??= stream()
    streamed.send(json)
  }
  const canStream = acceptsEventStream(exchange.headers)
  // What has a link to its client says itself how far it is.
  const stopProgress = canStream && call.link === undefined ? startProgress(request, send) : undefined
  if (canStream && call.link !== undefined) call.say = send
  raw.on('close', () => {
    if (raw.writableFinished || streamed?.isResumable === true) return
    call.say = undefined
    call.signal.abort()
    stopProgress?.()
  })
  const deliver = (done: Answer): void => {
    call.say = undefined
    stopProgress?.()
    onDone?.()
    if (streamed !== undefined) streamed.end(call.signal.aborted ? undefined : answerText(done))
    else if (raw.destroyed) return
    else if (call.signal.aborted) writeAccepted(exchange)
    else writeAnswer(exchange, done)
  }
  answer.then(deliver).catch(error => report(error, 'an answer could not be delivered'))
}
