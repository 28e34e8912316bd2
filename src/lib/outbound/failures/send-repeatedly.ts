import type { StopSignal } from '../../kernel/stop-signal.ts'
import type { OutboundResponse } from '../outbound-request.ts'
import { MAX_RETRIES, type RequestTrace } from '../request-trace.ts'
import { type Outcome, pause, pauseMsBefore, toAttemptOutcome } from './retries.ts'

export type RepeatedSend = {
  /** Sends the request once. Rejects with OutboundError. */
  send: () => Promise<OutboundResponse>
  trace: RequestTrace
  signal: StopSignal | undefined
  /** Time left for the call, in milliseconds. */
  leftMs: () => number
  /** Whether another request may be sent now. Called once for each. */
  mayRetry: () => boolean
  /** Frees the memory of a response that is not returned. */
  discard: () => void
}

const settle = async (sent: Promise<OutboundResponse>): Promise<Outcome> => {
  try {
    return { response: await sent }
  } catch (error) {
    return { error }
  }
}

/** Sends a request, and sends it again after temporary failures while retries are left. Ends like the last attempt. */
export const sendRepeatedly = async (parts: RepeatedSend): Promise<OutboundResponse> => {
  const { send, trace, signal, leftMs, mayRetry, discard } = parts
  for (let retry = 0; ; retry++) {
    const outcome = await settle(send())
    const mayHelp = trace.retries < MAX_RETRIES && signal?.aborted !== true
    const pauseMs = mayHelp ? pauseMsBefore(retry, outcome) : undefined
    if (pauseMs === undefined || pauseMs >= leftMs() || !mayRetry()) {
      if ('response' in outcome) return outcome.response
      throw outcome.error
    }
    trace.noteRetried(toAttemptOutcome(outcome))
    discard()
    await pause(pauseMs, signal)
    trace.startAttempt(performance.now())
  }
}
