import { lookup as systemLookup } from 'node:dns'
import type { LookupFunction } from 'node:net'
import { MAX_RESPONSE_HEADER_BYTES } from '../kernel/limits.ts'
import type { AddressPolicy } from './address-policy.ts'
import { createConnectionPools } from './connection-pools.ts'
import { createConnector } from './connector.ts'
import { exchange } from './exchange.ts'
import { abortProblem, type Problem, stoppingProblem, type ToError, toOutboundError } from './faults.ts'
import { buildFirstHop, type Hop, isRedirect } from './hop.ts'
import type { HttpClient, InProcessOrigin, OutboundRequest, OutboundResponse } from './http-client.ts'
import { answerInProcess } from './in-process.ts'
import { createOwnOriginCheck } from './own-origins.ts'
import { blocked, followRedirects } from './redirects.ts'
import { createTargetCheck, type Target } from './target.ts'

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

/**
 * The only way out for whatever a tenant can steer: every request, and every redirect of it, passes the checks of
 * the URL and of the address that it leads to, and ends within its time and its size.
 */
export const createHttpClient = (options: HttpClientOptions): HttpClient => {
  const { policy, maxRedirects, connectTimeoutMs, maxSockets, bodyIdleMs = BODY_IDLE_MS } = options
  const now = options.now ?? (() => performance.now())
  const inProcess = options.inProcess ?? new Map<string, InProcessOrigin>()
  const isOwn = createOwnOriginCheck(options.ownOrigins)
  const maxHeaderBytes = MAX_RESPONSE_HEADER_BYTES
  const connector = createConnector({ policy, lookup: options.lookup ?? systemLookup, connectTimeoutMs })
  const pools = createConnectionPools({ connector, maxSockets, maxHeaderBytes, bodyIdleMs })
  const checkTarget = createTargetCheck()
  let isClosed = false

  const refusalOf = ({ origin }: Target, { mayReach, signal }: OutboundRequest): Problem | undefined => {
    if (isClosed) return stoppingProblem
    if (signal?.aborted) return abortProblem
    if (isOwn(origin)) return blocked(`${origin} is Patchbay itself, which a tool cannot call`)
    if (mayReach === undefined || mayReach(origin)) return undefined
    return blocked(`${origin} is not among the origins that this tool may reach; see its allowed origins`)
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
    const answer = await perform(first.value)
    if (!isRedirect(answer.status)) return answer
    return (await followRedirects(first.value, answer, { perform, maxRedirects, checkTarget, toError })).answer
  }

  return {
    send,
    close: async () => {
      isClosed = true
      await pools.close()
    },
  }
}
