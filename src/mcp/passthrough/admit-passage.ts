import type { Caller, CompiledPassthrough } from '../../execution/index.ts'
import { failure, MCP_SCOPES, type Result, success } from '../../kernel/index.ts'
import type { PassthroughWay } from '../../upstreams/index.ts'
import { type Refusal, refusal } from '../answer.ts'
import type { Challenges } from '../challenges.ts'
import type { Exchange } from '../exchange.ts'
import { headerOf } from '../headers.ts'
import type { CheckRoom } from '../listen.ts'
import type { Mounted } from '../mounted.ts'
import { ERROR } from '../protocol.ts'
import { tooLarge } from './refusals.ts'
import { goesRound } from './request-headers.ts'
import { type PassedTarget, readPassedTarget } from './request-target.ts'

export type AdmittedPassage = { way: PassthroughWay; target: PassedTarget }

/** Whether the caller's token does not say that it may call; then that is what it is told. */
const lacksScope = (exchange: Exchange, caller: Caller, challenges: Challenges): boolean => {
  const held = caller?.limitedTo
  if (held === undefined || held.has('mcp:call')) return false
  challenges.refuseScope(
    exchange,
    null,
    MCP_SCOPES.filter(scope => scope === 'mcp:call' || held.has(scope)),
  )
  return true
}

/** Bodies are framed by their length or in chunks; any other coding is one that nobody here undoes (RFC 9112 §6.1). */
const isFramingKnown = ({ headers }: Exchange): boolean =>
  headers['transfer-encoding'] === undefined || headers['transfer-encoding'].toLowerCase() === 'chunked'

/** Answered by what was asked (RFC 9110 §9.3.8), which holds what is configured for the upstream alone. */
const TELLS_BACK: ReadonlySet<string | undefined> = new Set(['TRACE', 'TRACK'])

/**
 * What a browser would make part of the page that asks (fetch standard, "destination"): a page of ours takes scripts and
 * styles of its own origin, and an upstream's are not that, wherever they come by.
 */
const PARTS_OF_PAGES: ReadonlySet<string> = new Set([
  'audioworklet',
  'embed',
  'font',
  'json',
  'manifest',
  'object',
  'paintworklet',
  'script',
  'serviceworker',
  'sharedworker',
  'speculationrules',
  'style',
  'worker',
  'xslt',
])
const becomesPartOfPage = ({ headers }: Exchange): boolean =>
  PARTS_OF_PAGES.has(headerOf(headers, 'sec-fetch-dest') ?? '')

const check = (
  exchange: Exchange,
  { way }: CompiledPassthrough,
  maxRequestBytes: number,
): Result<AdmittedPassage, Refusal> => {
  const { headers, incoming } = exchange
  const target = readPassedTarget(incoming.url ?? '')
  if (TELLS_BACK.has(incoming.method)) {
    return failure(refusal(405, ERROR.transport, 'This method would tell what is shown to the upstream'))
  }
  if (becomesPartOfPage(exchange)) {
    return failure(refusal(403, ERROR.transport, 'Forbidden: what comes through here is no part of a page'))
  }
  if (!target.ok) return failure(refusal(400, ERROR.transport, `Bad request: ${target.error}`))
  if (!isFramingKnown(exchange))
    return failure(
      refusal(
        501,
        ERROR.transport,
        'This Transfer-Encoding is not known here: send the body with its length, or chunked',
      ),
    )
  if (Number(headers['content-length']) > maxRequestBytes) return failure(tooLarge(maxRequestBytes))
  if (goesRound(headers)) return failure(refusal(508, ERROR.transport, 'This request goes round in a loop'))
  if (!way.ok) return failure(refusal(503, ERROR.transport, way.error))
  return success({ way: way.value, target: target.value })
}

export type AdmitPassageOptions = { challenges: Challenges; checkRoom: CheckRoom; maxRequestBytes: number }

/** What every request that is passed on is held to, besides the access of its server; says why it is not, or has said so. */
export const createAdmitPassage =
  ({ challenges, checkRoom, maxRequestBytes }: AdmitPassageOptions) =>
  (
    exchange: Exchange,
    mounted: Mounted,
    passthrough: CompiledPassthrough,
    caller: Caller,
  ): Result<AdmittedPassage, Refusal | undefined> => {
    if (lacksScope(exchange, caller, challenges)) return failure(undefined)
    const full = checkRoom(mounted)
    return full === undefined ? check(exchange, passthrough, maxRequestBytes) : failure(full)
  }
