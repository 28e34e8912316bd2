import { CONNECT_TIMEOUT_MS, success } from '../../kernel/index.ts'
import { createHttpClient } from './client.ts'

export type TrustedFetchOptions = {
  /** For one request, and the whole answer. */
  timeoutMs: number
  maxResponseBytes: number
}

/** Sockets to one origin at once: a provider is asked a few things in a sign-in. */
const MAX_SOCKETS = 16

/** Answers that have no body (Fetch standard, "null body status"). */
const NO_BODY: ReadonlySet<number> = new Set([204, 205, 304])

/** What libraries give to a `fetch` in place of the global one. */
export type TrustedRequest = {
  method: string
  headers: Readonly<Record<string, string>>
  body?: unknown
  signal?: AbortSignal | undefined
}

const bodyOf = (body: unknown): string | undefined => {
  if (body === undefined || body === null) return undefined
  if (typeof body === 'string') return body
  if (body instanceof URLSearchParams) return body.toString()
  throw new TypeError('only text and forms are sent')
}

/**
 * A `fetch` for addresses that the operator's own settings name, and for what is found there: any address, private ones
 * too, but never a redirect, and each answer within its time and its size. Throws OutboundError.
 */
export const createTrustedFetch = ({ timeoutMs, maxResponseBytes }: TrustedFetchOptions) => {
  const client = createHttpClient({
    policy: () => success(undefined),
    maxRedirects: 0,
    connectTimeoutMs: Math.min(CONNECT_TIMEOUT_MS, timeoutMs),
    maxSockets: MAX_SOCKETS,
  })
  return {
    fetch: async (url: string, { method, headers, body, signal }: TrustedRequest): Promise<Response> => {
      const request = { method, url, headers: Object.entries(headers), body: bodyOf(body), timeoutMs, maxResponseBytes }
      const answer = await client.send({ ...request, signal })
      const answerHeaders = new Headers()
      for (const [name, values] of Object.entries(answer.headers)) {
        for (const value of [values].flat()) answerHeaders.append(name, value)
      }
      const content = NO_BODY.has(answer.status) ? null : new Uint8Array(answer.body)
      return new Response(content, { status: answer.status, statusText: answer.statusText, headers: answerHeaders })
    },
    close: (): Promise<void> => client.close(),
  }
}
