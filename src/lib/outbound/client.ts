import { fetchBuffered } from './buffered-response.ts'
import { REDIRECTED_ORIGIN, refuseCredentials } from './credentials.ts'
import { createDispatcher, type DispatcherOptions } from './dispatch.ts'
import {
  abortProblem,
  blocked,
  type Problem,
  stoppingProblem,
  type ToError,
  timeoutProblem,
  toOutboundError,
  tooLargeProblem,
} from './faults.ts'
import type { MemoryShares } from './memory-shares.ts'
import type { HttpClient, InProcessOrigin, OutboundRequest, OutboundResponse } from './outbound-request.ts'
import type { PreparedRequest } from './prepared-request.ts'
import { createRedirector } from './redirects.ts'
import { Deadline } from './stream-response.ts'
import type { Target } from './target.ts'

export type HttpClientOptions = DispatcherOptions & {
  /** If 0, every redirect is returned as a response. */
  maxRedirects: number
  /** Distributes the memory for responses among organizations; undefined for no limit. */
  memory?: MemoryShares | undefined
  /** Origins that are served inside this process. */
  inProcess?: ReadonlyMap<string, InProcessOrigin>
  /** Maximum idle time within a response body. */
  bodyIdleMs?: number
  /** Time of a monotonic clock, in milliseconds. */
  now?: () => number
}

/** A response that sends no data for this long counts as stuck, regardless of the request's timeout. */
const BODY_IDLE_MS = 30_000

type InProcessOptions = Pick<OutboundRequest, 'organizationId' | 'timeoutMs' | 'maxResponseBytes' | 'signal'> & {
  toError: ToError
}

/** Sends one request to an origin inside this process, with the same limits as any other request. */
const fetchInProcess = (
  origin: InProcessOrigin,
  { target, method, configured, body }: PreparedRequest,
  { toError, ...limits }: InProcessOptions,
): Promise<OutboundResponse> =>
  new Promise((resolve, reject) => {
    const { host, url } = target
    const { timeoutMs, maxResponseBytes, signal } = limits
    const fail = (problem: Problem): void => reject(toError(problem))
    const deadline = new Deadline(timeoutMs, signal, why =>
      fail(why === 'timeout' ? timeoutProblem(host, 'sent') : abortProblem),
    )
    const succeed = (response: OutboundResponse): void => {
      deadline.disarm()
      if (response.body.length <= maxResponseBytes) resolve({ ...response, url })
      else fail(tooLargeProblem(host, maxResponseBytes))
    }
    origin({ method, url, headers: configured, body, ...limits }).then(succeed, cause => {
      deadline.disarm()
      fail({ fault: 'reset', text: `${host} failed to respond`, cause })
    })
  })

/**
 * Returns the origin that a request is redirected to, or a description if it contains a secret or a part of one. A URL
 * parser may have changed or cut the secret, so that it could not be masked any more.
 */
const describeTarget = (origin: string, location: string | undefined, mask: OutboundRequest['mask']): string => {
  if (location === undefined || mask === undefined) return origin
  const masked = mask(location)
  return masked === location || masked.startsWith(origin) ? origin : REDIRECTED_ORIGIN
}

/**
 * Creates a client that returns complete responses. Checks the URL of each request and redirect, and the address that
 * it leads to. Ends each request within its timeout and size limit.
 */
export const createHttpClient = (options: HttpClientOptions): HttpClient => {
  const { maxRedirects, memory, inProcess, bodyIdleMs = BODY_IDLE_MS, now = () => performance.now() } = options
  const { dispatch, close } = createDispatcher(options)
  const follow = createRedirector(maxRedirects)
  let isClosed = false

  const refusalOf = (
    { origin }: Target,
    { mayReach, credentials = [], mask, signal }: OutboundRequest,
    location: string | undefined,
  ): Problem | undefined => {
    if (isClosed) return stoppingProblem
    if (signal?.aborted) return abortProblem
    const place = () => describeTarget(origin, location, mask)
    if (mayReach?.(origin) === false) return blocked(`${place()} is not among the allowed origins of this tool`)
    const refusal = refuseCredentials(credentials, origin, place)
    return refusal === undefined ? undefined : blocked(refusal)
  }

  const send = (request: OutboundRequest): Promise<OutboundResponse> => {
    const startedAt = now()
    const toError: ToError = problem => toOutboundError(problem, now() - startedAt)

    const { releases } = request
    let releaseLast: (() => void) | undefined
    const add = (release: () => void): void => {
      releaseLast = release
      releases?.add(release)
    }
    const ofResponse = releases && { add }
    /** Frees the memory of a redirect's body, which nobody reads. */
    const discard = (): void => {
      releaseLast?.()
      releaseLast = undefined
    }

    const perform = (prepared: PreparedRequest, location: string | undefined): Promise<OutboundResponse> => {
      const refusal = refusalOf(prepared.target, request, location)
      if (refusal !== undefined) throw toError(refusal)
      const { organizationId, maxResponseBytes, signal } = request
      const timeoutMs = request.timeoutMs - (now() - startedAt)
      const limits = { organizationId, timeoutMs, maxResponseBytes, signal, toError }
      const inside = inProcess?.get(prepared.target.origin)
      return inside === undefined
        ? fetchBuffered(prepared, { ...limits, dispatch, bodyIdleMs, memory, releases: ofResponse })
        : fetchInProcess(inside, prepared, limits)
    }

    return follow(request, { perform, toError, discard })
  }

  return {
    send,
    close: async () => {
      isClosed = true
      await close()
    },
  }
}
