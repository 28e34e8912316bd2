import type { StopSignal } from '../../lib/kernel/stop-signal.ts'
import { readRetryAfter } from '../../lib/outbound/failures/retry-after.ts'
import {
  type HttpClient,
  isSuccess,
  OutboundError,
  type OutboundResponse,
} from '../../lib/outbound/outbound-request.ts'
import { signedHeaders } from '../signature.ts'

/** Time limit of a request. Standard Webhooks recommend 15 to 30 seconds. */
const TIMEOUT_MS = 15_000
/** Nobody reads the responses. A longer one is a failure, because 512 of them may arrive at the same time. */
const MAX_RESPONSE_BYTES = 64 * 1_024
/** Length of the stored beginning of a response. */
const STORED_CHARACTERS = 1_000

export type Attempt = {
  organizationId: string
  /** The id of the event, the same for every attempt. */
  id: string
  url: string
  body: string
  secrets: readonly string[]
}

export type AttemptResult = {
  isDelivered: boolean
  ms: number
  status: number | undefined
  error: string | undefined
  /** The beginning of the response. */
  response: string | undefined
  retryAfterMs: number | undefined
}

/** Returns the beginning of a response, without what PostgreSQL cannot store. */
const beginningOf = (body: Buffer): string =>
  body.subarray(0, STORED_CHARACTERS).toString('utf8').replaceAll('\0', '\ufffd')

const errorOf = (response: OutboundResponse): string | undefined => {
  if (isSuccess(response)) return undefined
  const { status } = response
  const isRedirect = status >= 300 && status <= 399
  return isRedirect
    ? `It redirected to another address (status ${status}). Redirects are not followed.`
    : `It responded with the status ${status}.`
}

/** Sends an event once. Never throws an OutboundError: the result says what went wrong. */
export const attempt = async (
  { send }: Pick<HttpClient, 'send'>,
  { organizationId, id, url, body, secrets }: Attempt,
  signal: StopSignal,
): Promise<AttemptResult> => {
  const startedAt = performance.now()
  const sentAt = new Date()
  const headers: [string, string][] = [
    ['content-type', 'application/json'],
    ['user-agent', 'patchbay-webhooks'],
    ...signedHeaders({ id, sentAt, body }, secrets),
  ]
  const limits = { timeoutMs: TIMEOUT_MS, maxResponseBytes: MAX_RESPONSE_BYTES, signal }
  try {
    const response = await send({ organizationId, method: 'POST', url, headers, body, ...limits })
    const error = errorOf(response)
    return {
      isDelivered: error === undefined,
      ms: performance.now() - startedAt,
      status: response.status,
      error,
      response: beginningOf(response.body),
      retryAfterMs: readRetryAfter(response),
    }
  } catch (error) {
    if (!(error instanceof OutboundError)) throw error
    const isTooLong = error.fault === 'too_large'
    const text = isTooLong ? 'Its response is longer than 64 KiB.' : `It could not be sent: ${error.message}.`
    const ms = performance.now() - startedAt
    return { isDelivered: false, ms, status: undefined, error: text, response: undefined, retryAfterMs: undefined }
  }
}
