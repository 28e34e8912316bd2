import { failure, type Result } from '../kernel/result.ts'
import type { ResponseHeaders } from './dispatch.ts'
import { blocked, type Problem, type ToError } from './faults.ts'
import type { OutboundRequest } from './outbound-request.ts'
import { type PreparedRequest, prepareRequest } from './prepared-request.ts'
import { createTargetCheck, parseRedirectTarget, type Target } from './target.ts'

const REDIRECTS: ReadonlySet<number> = new Set([301, 302, 303, 307, 308])

/** Whether a redirect changes the method to GET. 301 and 302 do so only for POST, as in browsers. */
const becomesGet = (status: number, method: string): boolean =>
  (status === 303 && method !== 'HEAD') || ((status === 301 || status === 302) && method === 'POST')

export type RedirectOptions<Response> = {
  /** Sends one request. Must refuse targets that are not allowed. `location` is the redirect that led to it. */
  perform: (request: PreparedRequest, location: string | undefined) => Promise<Response>
  toError: ToError
  /** Discards the response of a redirect. */
  discard?: (response: Response) => void
  /** Whether a configured header, given by its lower-case name, may be sent to another origin. By default, none may. */
  keepsAcrossOrigins?: (lowerCaseName: string) => boolean
}

/**
 * Builds the request that follows a redirect (RFC 9110 §15.4). Another origin receives no body, and only the headers
 * that `keepsAcrossOrigins` allows, because all others may hold secrets. Redirects from https to http are refused. The
 * error says which rule was broken.
 */
const redirectRequest = (
  { target: from, method, configured, body }: PreparedRequest,
  status: number,
  to: Target,
  keepsAcrossOrigins: (lowerCaseName: string) => boolean,
): Result<PreparedRequest, string> => {
  const isOtherOrigin = to.origin !== from.origin
  if (from.origin.startsWith('https:') && !to.origin.startsWith('https:')) {
    return failure(`${from.host} redirected from https to http`)
  }
  const isGet = becomesGet(status, method)
  if (isOtherOrigin && !isGet && body !== undefined) {
    return failure(`${from.host} redirected a request with a body to another origin`)
  }
  const headers = configured.filter(([name]) => {
    const lower = name.toLowerCase()
    return isOtherOrigin ? keepsAcrossOrigins(lower) : !(isGet && lower.startsWith('content-'))
  })
  return prepareRequest({ method: isGet ? 'GET' : method, headers, body: isGet ? undefined : body }, to)
}

const tooManyRedirects = (host: string, maxRedirects: number): Problem => ({
  fault: 'too_many_redirects',
  text: `${host} redirected again after ${maxRedirects} redirects (PATCHBAY_MAX_REDIRECTS); use the final address as the URL`,
})

/**
 * Creates a function that sends a request, follows redirects and returns the last response. Each redirect passes the
 * same checks as the first request. If `maxRedirects` is 0, redirects are not followed.
 */
export const createRedirector = (maxRedirects: number) => {
  const checkTarget = createTargetCheck()
  return async <Response extends { status: number; headers: Readonly<ResponseHeaders> }>(
    first: Pick<OutboundRequest, 'url' | 'method' | 'headers' | 'body'>,
    { perform, toError, discard, keepsAcrossOrigins = () => false }: RedirectOptions<Response>,
  ): Promise<Response> => {
    const target = checkTarget(first.url)
    if (!target.ok) throw toError(blocked(`${target.error}; correct the URL`))
    const prepared = prepareRequest(first, target.value)
    if (!prepared.ok) throw toError({ fault: 'invalid_request', text: `${prepared.error}; correct the request` })
    let request = prepared.value
    let redirectedTo: string | undefined
    for (let redirects = 0; ; redirects++) {
      const response = await perform(request, redirectedTo)
      const location = REDIRECTS.has(response.status) ? response.headers.location : undefined
      if (location === undefined || maxRedirects === 0) return response
      discard?.(response)
      const { target: from } = request
      if (redirects === maxRedirects) throw toError(tooManyRedirects(from.host, maxRedirects))
      const to = parseRedirectTarget(from, location, checkTarget)
      const next = to.ok ? redirectRequest(request, response.status, to.value, keepsAcrossOrigins) : to
      if (!next.ok) throw toError(blocked(`${from.host} sent a redirect that is not allowed: ${next.error}`))
      request = next.value
      redirectedTo = String(location)
    }
  }
}
