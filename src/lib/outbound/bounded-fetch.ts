import type { HttpClient } from './http-client.ts'

/** Answers that have no body (Fetch standard, "null body status"). */
const NO_BODY: ReadonlySet<number> = new Set([204, 205, 304])

/** For one request, and the whole answer. */
export type FetchBounds = { timeoutMs: number; maxResponseBytes: number }

/** What libraries give to a `fetch` in place of the global one. */
export type BoundedRequest = {
  method?: string | undefined
  headers?: ConstructorParameters<typeof Headers>[0]
  body?: unknown
  signal?: AbortSignal | null | undefined
}

export type BoundedFetch = (url: string | URL, request?: BoundedRequest) => Promise<Response>

const bodyOf = (body: unknown): string | undefined => {
  if (body === undefined || body === null) return undefined
  if (typeof body === 'string') return body
  if (body instanceof URLSearchParams) return body.toString()
  throw new TypeError('only text and forms are sent')
}

/**
 * A `fetch` for libraries that goes by a client of ours, whose checks every request passes: each answer comes whole,
 * within its time and its size. Throws OutboundError.
 */
export const createBoundedFetch =
  ({ send }: Pick<HttpClient, 'send'>, bounds: FetchBounds): BoundedFetch =>
  async (url, { method = 'GET', headers, body, signal } = {}) => {
    const sent = [...new Headers(headers)]
    const request = { method, url: String(url), headers: sent, body: bodyOf(body), ...bounds }
    const answer = await send({ ...request, signal: signal ?? undefined })
    const answerHeaders = new Headers()
    for (const [name, values] of Object.entries(answer.headers)) {
      for (const value of [values].flat()) answerHeaders.append(name, value)
    }
    const content = NO_BODY.has(answer.status) ? null : new Uint8Array(answer.body)
    return new Response(content, { status: answer.status, statusText: answer.statusText, headers: answerHeaders })
  }
