import { Readable } from 'node:stream'
import type { ProxyFault, ReverseProxy } from '../../platform/net/index.ts'
import { type PassthroughTarget, type Place, pathAt } from '../../upstreams/index.ts'
import { type Refusal, refusal } from '../answer.ts'
import type { ReportFault } from '../dispatcher.ts'
import { hasLeft, writeRefusal } from '../exchange.ts'
import { ERROR } from '../protocol.ts'
import { passAnswer } from './pass-answer.ts'
import { type RequestPassing, sessionOf } from './passing.ts'
import { downRefusal, faultRefusal, RETRY_SOON, tooLarge } from './refusals.ts'
import { takeBody } from './request-body.ts'

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

export const createPassRequest =
  ({ proxy, maxRequestBytes, report }: { proxy: ReverseProxy; maxRequestBytes: number; report: ReportFault }) =>
  /** Sends one request on to one of the upstream's addresses, and what comes back to the client. */
  (passing: RequestPassing): void => {
    const { exchange, passage, way, target } = passing
    const { incoming, raw } = exchange
    const { method = '' } = incoming
    const session = sessionOf(passing)
    const refuse = createRefuse(passing)
    const tried = new Set<PassthroughTarget>()
    let body: Buffer | Readable | undefined
    let mayRepeat = IDEMPOTENT.has(method)
    let place: Place | undefined
    let breakOff = (): void => undefined
    raw.on('close', () => {
      breakOff()
      place?.leave()
      // What is left of its body stands before the next request on the client's connection.
      incoming.unpipe()
      incoming.resume()
    })

    /** Out of an event's listener an error would end the process, and every other call with it. */
    const attempt = <T>(work: () => T): T | undefined => {
      try {
        return work()
      } catch (error) {
        report(error, 'a request was not passed on for a reason nobody thought of')
        refuse(refusal(500, ERROR.internal, 'Internal error'))
        return undefined
      }
    }

    const onFault = (fault: ProxyFault, failed: Place): void => {
      failed.leave()
      place = undefined
      if (hasLeft(exchange) || raw.headersSent) return
      if (mayRepeat && fault.wasReused && !(body instanceof Readable)) {
        mayRepeat = false
        attempt(send)
      } else {
        failed.failed(fault.error.message, fault.isUnsent)
        tried.add(failed.target)
        const mayTryAnother = fault.isUnsent && tried.size < MAX_TRIES && tried.size < way.balancer.targets.length
        if (mayTryAnother) attempt(send)
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
      const cut = proxy.pass({
        url,
        method,
        path,
        headers: { ...passing.headers, host: url.host },
        body,
        headTimeoutMs: way.timeoutMs,
        onHead: head => {
          if (hasLeft(exchange) || raw.headersSent) return undefined
          const asked = `${url.origin}${path}`
          const answer = { ...passing, place: taken, asked, refuse, breakOff: () => breakOff() }
          return attempt(() => passAnswer(head, answer))
        },
        onBytes: count => {
          passage.responseBytes += count
        },
        onBroken: error => {
          passage.error ??= error.message
          raw.destroy()
        },
        onFault: fault => onFault(fault, taken),
      })
      // It may have failed at once, and another address have been tried.
      if (place === taken) breakOff = cut
    }
    const onTooLong = (): void => {
      refuse(tooLarge(maxRequestBytes))
      breakOff()
    }
    takeBody(passing, { maxBytes: maxRequestBytes, onTooLong }, taken => {
      if (hasLeft(exchange)) return
      body = taken
      attempt(send)
    })
  }
