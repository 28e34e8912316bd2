import { type BufferOptions, fetchBuffered } from './buffered-response.ts'
import { REDIRECTED_ORIGIN, refuseCredentials } from './credentials.ts'
import { createDispatcher, type DispatcherOptions } from './dispatch.ts'
import { type CircuitOptions, createCircuits, type FailingOrigin } from './failures/circuits.ts'
import { createRetryBudgets } from './failures/retries.ts'
import { sendRepeatedly } from './failures/send-repeatedly.ts'
import {
  abortProblem,
  blocked,
  failingProblem,
  type Problem,
  stoppingProblem,
  type ToError,
  timeoutProblem,
  toOutboundError,
  tooLargeProblem,
} from './faults.ts'
import type { MemoryShares } from './memory-shares.ts'
import {
  type HttpClient,
  type InProcessOrigin,
  isIdempotent,
  OutboundError,
  type OutboundRequest,
  type OutboundResponse,
} from './outbound-request.ts'
import type { PreparedRequest } from './prepared-request.ts'
import { createRedirector } from './redirects.ts'
import { RequestTrace } from './request-trace.ts'
import { Deadline } from './stream-response.ts'
import type { Target } from './target.ts'

export type HttpClientOptions = DispatcherOptions & {
  /** If 0, every redirect is returned as a response. */
  maxRedirects: number
  /** Distributes the memory for responses among organizations; undefined for no limit. */
  memory?: MemoryShares | undefined
  /** When an origin that keeps failing gets no more requests. Undefined: it always gets them. */
  circuits?: Partial<CircuitOptions> | undefined
  /** Origins that are served inside this process. */
  inProcess?: ReadonlyMap<string, InProcessOrigin>
  /** Maximum idle time within a response body. */
  bodyIdleMs?: number
  /** Time of a monotonic clock, in milliseconds. */
  now?: () => number
}

/** A response that sends no data for this long counts as stuck, regardless of the request's timeout. */
const BODY_IDLE_MS = 30_000

/** Failures that a client has seen, for the operator. */
export type HttpFailures = {
  /** Lists the origins that get no requests for now, because they keep failing. */
  listFailing: () => FailingOrigin[]
  /** Returns how many requests were sent again after a temporary failure, since the start. */
  countRetries: () => number
}

type InProcessOptions = Pick<OutboundRequest, 'organizationId' | 'timeoutMs' | 'maxResponseBytes' | 'signal'> & {
  toError: ToError
  trace: RequestTrace
}

/** Sends one request to an origin inside this process, with the same limits as any other request. */
const fetchInProcess = (
  origin: InProcessOrigin,
  { target, method, configured, body }: PreparedRequest,
  { toError, trace, ...limits }: InProcessOptions,
): Promise<OutboundResponse> =>
  new Promise((resolve, reject) => {
    const { host, url } = target
    const { timeoutMs, maxResponseBytes, signal } = limits
    const startedMs = performance.now()
    const fail = (problem: Problem): void => reject(toError(problem))
    const deadline = new Deadline(timeoutMs, signal, why =>
      fail(why === 'timeout' ? timeoutProblem(host, 'sent') : abortProblem),
    )
    const succeed = (response: OutboundResponse): void => {
      deadline.disarm()
      trace.add('sent', performance.now() - startedMs)
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

/** Remembers how to free the memory of the last response, in case nobody reads it. */
const createResponseReleases = (releases: NonNullable<OutboundRequest['releases']>) => {
  let releaseLast: (() => void) | undefined
  return {
    add: (release: () => void): void => {
      releaseLast = release
      releases.add(release)
    },
    discard: (): void => {
      releaseLast?.()
      releaseLast = undefined
    },
  }
}

/**
 * Creates a client that returns complete responses. Checks the URL of each request and redirect, and the address that
 * it leads to. Ends each request within its timeout and size limit.
 */
export const createHttpClient = (options: HttpClientOptions): HttpClient & HttpFailures => {
  const { maxRedirects, memory, inProcess, bodyIdleMs = BODY_IDLE_MS, now = () => performance.now() } = options
  const { dispatch, close } = createDispatcher(options)
  const follow = createRedirector(maxRedirects)
  const circuits = options.circuits && createCircuits({ ...options.circuits, now })
  const budgets = createRetryBudgets()
  let isClosed = false
  let retryCount = 0

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

  /** Sends a request to another process, unless its origin keeps failing. */
  const sendOutside = (prepared: PreparedRequest, limits: BufferOptions): Promise<OutboundResponse> => {
    if (circuits === undefined) return fetchBuffered(prepared, limits)
    const { origin, host } = prepared.target
    const circuit = circuits.find(limits.organizationId, origin)
    const open = circuit?.whyOpen()
    if (open !== undefined) throw limits.toError(failingProblem(open, host))
    return circuits.watch(fetchBuffered(prepared, limits), limits.organizationId, origin, circuit)
  }

  const send = async (request: OutboundRequest): Promise<OutboundResponse> => {
    const startedAt = now()
    const { organizationId, maxResponseBytes, signal, trace = new RequestTrace() } = request
    let { retries: retriesLeft = 0 } = request
    const toError: ToError = problem => toOutboundError(problem, now() - startedAt, trace.retries + 1)
    const releases = request.releases && createResponseReleases(request.releases)
    const discard = (): void => releases?.discard()
    const leftMs = (): number => request.timeoutMs - (now() - startedAt)

    const sendOnce = async (prepared: PreparedRequest, location: string | undefined): Promise<OutboundResponse> => {
      const refusal = refusalOf(prepared.target, request, location)
      if (refusal !== undefined) throw toError(refusal)
      const limits = { organizationId, timeoutMs: leftMs(), maxResponseBytes, signal, toError, trace }
      const inside = inProcess?.get(prepared.target.origin)
      if (inside !== undefined) return fetchInProcess(inside, prepared, limits)
      return sendOutside(prepared, { ...limits, dispatch, bodyIdleMs, memory, releases })
    }

    const perform = (prepared: PreparedRequest, location: string | undefined): Promise<OutboundResponse> => {
      if (retriesLeft === 0 || !isIdempotent(prepared.method)) return sendOnce(prepared, location)
      const { origin } = prepared.target
      const takeRetry = budgets.countRequest(organizationId, origin)
      const mayRetry = (): boolean => {
        const isOpen = circuits?.find(organizationId, origin)?.whyOpen() !== undefined
        if (retriesLeft === 0 || isOpen || !takeRetry()) return false
        retriesLeft--
        retryCount++
        return true
      }
      return sendRepeatedly({
        send: () => sendOnce(prepared, location),
        trace,
        signal,
        leftMs,
        mayRetry,
        discard,
      })
    }

    trace.startAttempt(performance.now())
    try {
      const response = await follow(request, { perform, toError, discard })
      trace.noteLast({ status: response.status })
      return response
    } catch (error) {
      trace.noteLast(error instanceof OutboundError ? { fault: error.fault } : {})
      throw error
    }
  }

  return {
    send,
    listFailing: () => circuits?.listFailing() ?? [],
    countRetries: () => retryCount,
    close: async () => {
      isClosed = true
      await close()
    },
  }
}
