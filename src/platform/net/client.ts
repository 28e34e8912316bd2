import { lookup as systemLookup } from 'node:dns'
import type { LookupFunction } from 'node:net'
import { MAX_RESPONSE_HEADER_BYTES, type Result } from '../../kernel/index.ts'
import type { AddressPolicy } from './address-policy.ts'
import { createConnectionPools } from './connection-pools.ts'
import { createConnector } from './connector.ts'
import { exchange } from './exchange.ts'
import { abortProblem, type Problem, stoppingProblem, type ToError, toOutboundError } from './faults.ts'
import { buildFirstHop, buildNextHop, type Hop, isRedirect } from './hop.ts'
import type { HttpClient, InProcessOrigin, OutboundRequest, OutboundResponse } from './http-client.ts'
import { answerInProcess } from './in-process.ts'
import { createTargetCheck, parseRedirectTarget, type Target } from './target.ts'

export type HttpClientOptions = {
  /** Which addresses may be connected to. One client has one policy, so no connection is shared across policies. */
  policy: AddressPolicy
  /** 0 hands every redirect back as the answer that it is. */
  maxRedirects: number
  connectTimeoutMs: number
  /** Per origin. */
  maxSockets: number
  /** Origins answered inside this process, by origin. */
  inProcess?: ReadonlyMap<string, InProcessOrigin>
  /** Origins of Patchbay itself: a tool that calls them would call itself. */
  ownOrigins?: readonly string[]
  /** Silence in the middle of an answer, after which it is given up. */
  bodyIdleMs?: number
  /** Answers every address of a name; the system's resolver if left out. */
  lookup?: LookupFunction
  /** Milliseconds of a clock that never goes back. */
  now?: () => number
}

/** An answer may fall silent this long before it counts as stuck, whatever the call's own time. */
const BODY_IDLE_MS = 30_000

const blocked = (text: string): Problem => ({ fault: 'blocked', text })

/** A name with a dot at its end is the same name (RFC 1034 §3.1). */
const withoutRootDot = (origin: string): string => origin.replace(/\.(?=$|:\d+$)/, '')

const tooManyRedirects = (host: string, maxRedirects: number): Problem => ({
  fault: 'too_many_redirects',
  text: `${host} redirected again after ${maxRedirects} redirects (PATCHBAY_MAX_REDIRECTS); use the final address as the URL`,
})

/**
 * The only way out for whatever a tenant can steer: every request, and every redirect of it, passes the checks of
 * the URL and of the address that it leads to, and ends within its time and its size.
 */
export const createHttpClient = (options: HttpClientOptions): HttpClient => {
  const { policy, maxRedirects, connectTimeoutMs, maxSockets, bodyIdleMs = BODY_IDLE_MS } = options
  const now = options.now ?? (() => performance.now())
  const inProcess = options.inProcess ?? new Map<string, InProcessOrigin>()
  const ownOrigins = new Set(options.ownOrigins?.map(withoutRootDot))
  const maxHeaderBytes = MAX_RESPONSE_HEADER_BYTES
  const connector = createConnector({ policy, lookup: options.lookup ?? systemLookup, connectTimeoutMs })
  const pools = createConnectionPools({ connector, maxSockets, maxHeaderBytes, bodyIdleMs })
  const checkTarget = createTargetCheck()
  let isClosed = false

  const refusalOf = ({ origin }: Target, { mayReach, signal }: OutboundRequest): Problem | undefined => {
    if (isClosed) return stoppingProblem
    if (signal?.aborted) return abortProblem
    if (ownOrigins.has(withoutRootDot(origin))) return blocked(`${origin} is Patchbay itself, which a tool cannot call`)
    if (mayReach === undefined || mayReach(origin)) return undefined
    return blocked(`${origin} is not among the origins that this tool may reach; see its allowed origins`)
  }

  const buildRedirected = (hop: Hop, status: number, location: string | string[]): Result<Hop, string> => {
    const target = parseRedirectTarget(hop.target, location, checkTarget)
    return target.ok ? buildNextHop(hop, status, target.value) : target
  }

  const send = async (request: OutboundRequest): Promise<OutboundResponse> => {
    const startedAt = now()
    const toError: ToError = problem => toOutboundError(problem, now() - startedAt)

    const perform = (hop: Hop): Promise<OutboundResponse> => {
      const refusal = refusalOf(hop.target, request)
      if (refusal !== undefined) throw toError(refusal)
      const { maxResponseBytes, signal } = request
      const limits = { timeoutMs: request.timeoutMs - (now() - startedAt), maxResponseBytes, signal, toError }
      const inside = inProcess.get(hop.target.origin)
      return inside === undefined
        ? exchange(hop, { ...limits, pools, maxHeaderBytes, bodyIdleMs })
        : answerInProcess(inside, hop, limits)
    }

    const target = checkTarget(request.url)
    if (!target.ok) throw toError(blocked(`${target.error}; correct the URL of the tool`))
    const first = buildFirstHop(request, target.value)
    if (!first.ok) throw toError(blocked(`${first.error}; correct the tool`))
    let hop = first.value
    for (let redirects = 0; ; redirects++) {
      const response = await perform(hop)
      const location = isRedirect(response.status) ? response.headers.location : undefined
      if (location === undefined || maxRedirects === 0) return response
      if (redirects === maxRedirects) throw toError(tooManyRedirects(hop.target.host, maxRedirects))
      const next = buildRedirected(hop, response.status, location)
      if (!next.ok) throw toError(blocked(`${hop.target.host} redirected where no request may go: ${next.error}`))
      hop = next.value
    }
  }

  return {
    send,
    close: async () => {
      isClosed = true
      await pools.close()
    },
  }
}
