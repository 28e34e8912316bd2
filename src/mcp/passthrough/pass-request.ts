import type { ProxyFault, ReverseProxy } from '../../platform/net/index.ts'
import { type PassthroughTarget, type Place, pathAt } from '../../upstreams/index.ts'
import type { Refusal } from '../answer.ts'
import { hasLeft, writeRefusal } from '../exchange.ts'
import { passAnswer } from './pass-answer.ts'
import { type RequestPassing, sessionOf } from './passing.ts'
import { downRefusal, faultRefusal, RETRY_SOON, tooLarge } from './refusals.ts'
import { framingOf } from './request-headers.ts'

/** Addresses tried for one request, of those that take no connection. */
const MAX_TRIES = 3
/** What may be sent twice (RFC 9110 §9.2.2). */
const IDEMPOTENT: ReadonlySet<string | undefined> = new Set(['GET', 'HEAD', 'OPTIONS', 'PUT', 'DELETE', 'TRACE'])

/** Answers in the upstream's place; what has been answered already is broken off. */
const createRefuse =
  ({ exchange, passage }: RequestPassing) =>
  (reason: Refusal, fields?: readonly string[]): void => {
    passage.error ??= reason.message
    if (exchange.raw.headersSent) exchange.raw.destroy()
    else writeRefusal(exchange, reason, fields)
  }

/** Counts the body as it goes out; one that says no length is cut where it is too long. */
const countBody = ({ exchange, passage }: RequestPassing, maxBytes: number, onTooLong: () => void): void => {
  exchange.incoming.on('data', (chunk: Buffer) => {
    const hasFitted = passage.requestBytes <= maxBytes
    passage.requestBytes += chunk.length
    if (hasFitted && passage.requestBytes > maxBytes) onTooLong()
  })
}

export const createPassRequest =
  ({ proxy, maxRequestBytes }: { proxy: ReverseProxy; maxRequestBytes: number }) =>
  /** Sends one request on to one of the upstream's addresses, and what comes back to the client. */
  (passing: RequestPassing): void => {
    const { exchange, way, target } = passing
    const { incoming, raw } = exchange
    const { method, headers } = incoming
    const framing = framingOf(method, headers)
    const hasBody = headers['content-length'] !== undefined || headers['transfer-encoding'] !== undefined
    const session = sessionOf(passing)
    const refuse = createRefuse(passing)
    const tried = new Set<PassthroughTarget>()
    let mayRepeat = IDEMPOTENT.has(method) && !hasBody
    let place: Place | undefined
    raw.on('close', () => place?.leave())

    const onFault = (fault: ProxyFault, failed: Place): void => {
      failed.leave()
      place = undefined
      if (hasLeft(exchange) || raw.headersSent) return
      if (mayRepeat && fault.wasReused) {
        mayRepeat = false
        send()
      } else {
        failed.failed(fault.error.message, fault.isUnsent)
        tried.add(failed.target)
        const mayTryAnother = fault.isUnsent && tried.size < MAX_TRIES && tried.size < way.balancer.targets.length
        if (mayTryAnother) send()
        else refuse(faultRefusal(fault), fault.isUnsent ? RETRY_SOON : [])
      }
    }

    const send = (): void => {
      const taken = way.balancer.take(session, tried)
      if (taken === undefined) {
        refuse(downRefusal(way), RETRY_SOON)
        return
      }
      place = taken
      const { url } = taken.target
      const path = pathAt(taken.target, target.suffix, target.search)
      proxy.pass(incoming, raw, {
        url,
        path,
        headers: { ...passing.headers, host: url.host, ...framing },
        headTimeoutMs: way.timeoutMs,
        onSending: () => countBody(passing, maxRequestBytes, () => refuse(tooLarge(maxRequestBytes))),
        onHead: answer => {
          if (hasLeft(exchange) || raw.headersSent) answer.destroy()
          else passAnswer(answer, { ...passing, place: taken, asked: `${url.origin}${path}`, refuse })
        },
        onFault: fault => onFault(fault, taken),
      })
    }
    send()
  }
