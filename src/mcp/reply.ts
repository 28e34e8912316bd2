import { CUT_OFF } from '../lib/http/drain.ts'
import { SLOW } from '../lib/http/slow-responses.ts'
import type { RunningCall } from './call.ts'
import type { PostChannel } from './client-channel.ts'
import { type HttpExchange, type ReportFault, writeAccepted, writeResponse, writeWhiteSpace } from './http-exchange.ts'
import type { RequestMessage } from './message.ts'
import { CUT_BY_SHUTDOWN, errorResponse, type RpcResponse, responseText } from './rpc-response.ts'
import { startProgress } from './sessions/progress.ts'

/** A call that has no response yet. */
export type PendingReply = RunningCall & {
  request: RequestMessage
  channel: PostChannel
}

/**
 * The calls of a batch, whose responses are sent together. `responses` resolves with undefined if there is nothing to
 * send. `cutOff` returns the responses that are ready, and an error for each request that has none.
 */
export type BatchReply = {
  responses: Promise<RpcResponse | undefined>
  cutOff: () => RpcResponse | undefined
  cancel: () => void
  /** Ends the releases of all calls. */
  release: () => void
}

/**
 * The reply to a POST: a response that is ready or pending, `accepted` (202) if there is none, or `streaming` if an
 * event stream has been opened instead.
 */
export type Reply = RpcResponse | PendingReply | BatchReply | 'accepted' | 'streaming'

/** Writes the reply to a POST. */
export const writeReply = (http: HttpExchange, reply: Reply, report: ReportFault): void => {
  if (reply === 'streaming') return
  if (reply === 'accepted') writeAccepted(http)
  else if ('status' in reply) writeResponse(http, reply)
  else if ('call' in reply) writePending(http, reply, report)
  else writeBatch(http, reply, report)
}

/**
 * Writes the response of a call as JSON, or as an event stream if messages or comments precede it, such as the progress
 * of a slow call or messages from an upstream.
 *
 * A disconnect cancels the call, as the stateless era requires (basic/transports, "Cancellation"). In the session era,
 * a disconnect must not count as a cancellation, so a streamed response continues, because the client can resume it. A
 * JSON response cannot reach anyone after a disconnect, so its call is cancelled in both eras.
 */
const writePending = (
  http: HttpExchange,
  { request, call, channel, response }: PendingReply,
  report: ReportFault,
): void => {
  const { raw } = http
  // A call with a link reports its own progress.
  const stopProgress = channel.isOpen && call.link === undefined ? startProgress(request, channel.send) : undefined
  raw.on('close', () => {
    call.releases.end()
    if (raw.writableFinished || channel.stream?.isResumable === true) return
    channel.close()
    call.signal.abort()
    stopProgress?.()
  })
  let isDelivered = false
  const deliver = (done: RpcResponse): void => {
    if (isDelivered) return
    isDelivered = true
    channel.close()
    stopProgress?.()
    const { stream } = channel
    if (stream !== undefined) stream.end(call.signal.aborted ? undefined : responseText(done))
    else if (raw.destroyed) return
    else if (call.signal.aborted) writeAccepted(http)
    else writeResponse(http, done)
  }
  // A constant first, because V8 allocates a function literal that is assigned to a property in the old generation,
  // where it keeps alive everything it refers to (ADR 13).
  const cutOff = (): void => {
    deliver(errorResponse(request.id, CUT_BY_SHUTDOWN))
    call.signal.abort()
  }
  channel.onCutOff = cutOff
  raw.once(CUT_OFF, cutOff)
  // Many proxies cut a connection on which nothing is sent for 30 or 60 seconds.
  raw.on(SLOW, () => {
    if (isDelivered) return
    if (channel.isOpen) channel.beat()
    else writeWhiteSpace(http)
  })
  response
    .then(deliver)
    .catch(error => report(error, 'could not send the response to an MCP request', http.requestId))
    .finally(() => {
      // Then 'close' may have been emitted before there was a listener.
      if (raw.destroyed) call.releases.end()
    })
}

const writeBatch = (
  http: HttpExchange,
  { responses, cutOff, cancel, release }: BatchReply,
  report: ReportFault,
): void => {
  const { raw } = http
  raw.on('close', () => {
    release()
    if (!raw.writableFinished) cancel()
  })
  let isDelivered = false
  const deliver = (done: RpcResponse | undefined): void => {
    if (raw.destroyed || isDelivered) return
    isDelivered = true
    if (done === undefined) writeAccepted(http)
    else writeResponse(http, done)
  }
  raw.on(SLOW, () => {
    if (!isDelivered) writeWhiteSpace(http)
  })
  raw.once(CUT_OFF, () => {
    deliver(cutOff())
    cancel()
  })
  responses
    .then(deliver)
    .catch(error => report(error, 'could not send the responses of an MCP batch', http.requestId))
    .finally(() => {
      // Then 'close' may have been emitted before there was a listener.
      if (raw.destroyed) release()
    })
}
