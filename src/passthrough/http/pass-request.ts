import type { Readable } from 'node:stream'
import { type CallResult, resultOfFault } from '../../history/call-result.ts'
import { CUT_OFF } from '../../lib/http/drain.ts'
import { tooLarge } from '../../mcp/body.ts'
import { hasDisconnected, internalError, type ReportFault, writeRefusal } from '../../mcp/http-exchange.ts'
import { CUT_BY_SHUTDOWN, type Refusal } from '../../mcp/rpc-response.ts'
import type { ProxyFault, ReverseProxy } from '../proxy/reverse-proxy.ts'
import type { Slot } from '../route/balancer.ts'
import { type PassthroughTarget, pathAt } from '../route/target.ts'
import { type ForwardedRequest, sessionOf } from './forwarded-request.ts'
import { passResponse } from './pass-response.ts'
import { downRefusal, faultRefusal } from './refusals.ts'
import { takeBody } from './request-body.ts'

/** Maximum number of addresses tried per request if they refuse the connection. */
const MAX_TRIES = 3

export const createPassRequest =
  ({ proxy, maxRequestBytes, report }: { proxy: ReverseProxy; maxRequestBytes: number; report: ReportFault }) =>
  /** Passes a request on to one of the upstream's addresses, and the response back to the client. */
  (forwarded: ForwardedRequest): void => {
    const { http, passage, route, target } = forwarded
    const { incoming, raw } = http
    const { method = '' } = incoming
    const { timer } = passage
    const session = sessionOf(forwarded)
    const tried = new Set<PassthroughTarget>()
    let body: Buffer | Readable | undefined
    let slot: Slot | undefined
    let abort = (): void => undefined
    // Before the listener that records the request, so that its time is complete.
    raw.prependListener('close', () => {
      abort()
      slot?.release()
      // Discards the rest of the body, which would otherwise be read as the next request on this connection.
      incoming.unpipe()
      incoming.resume()
    })

    /** Responds with a refusal, or cuts off the response if it has started. */
    const refuse = (reason: Refusal, callResult?: CallResult): void => {
      passage.fail(reason.message, callResult)
      if (raw.headersSent) raw.destroy()
      else writeRefusal(http, reason)
    }

    /** Runs `work` and responds to an exception, which would end the process in an event listener. */
    const attempt = <T>(work: () => T): T | undefined => {
      try {
        return work()
      } catch (error) {
        report(error, 'unexpected error while forwarding a request', http.requestId)
        refuse(internalError(500, http.requestId))
        return undefined
      }
    }

    raw.once(CUT_OFF, () => {
      abort()
      if (!raw.headersSent) {
        refuse(CUT_BY_SHUTDOWN)
        return
      }
      passage.fail(CUT_BY_SHUTDOWN.message)
      // Sends what there is. Without an end of the body, the client can tell that the rest is missing.
      raw.socket?.end()
    })

    const onFault = (fault: ProxyFault, failed: Slot): void => {
      failed.release()
      slot = undefined
      if (hasDisconnected(http) || raw.headersSent) return
      failed.failed(fault.error.message, fault.isUnsent)
      tried.add(failed.target)
      const mayTryAnother = fault.isUnsent && tried.size < MAX_TRIES && tried.size < route.balancer.targets.length
      const outcome = { fault: fault.error.fault }
      if (mayTryAnother) {
        timer.trace.noteRetried(outcome)
        attempt(send)
      } else {
        timer.trace.noteLast(outcome)
        refuse(faultRefusal(fault), resultOfFault(fault.error.fault))
      }
    }

    const send = (): void => {
      const taken = route.balancer.take(session, tried)
      if (taken === undefined) {
        refuse(downRefusal(route))
        return
      }
      slot = taken
      timer.trace.startAttempt(performance.now())
      const { url } = taken.target
      const path = pathAt(taken.target, target)
      const cut = proxy.pass({
        organizationId: route.organizationId,
        url,
        method,
        path,
        headers: { ...forwarded.headers, host: url.host },
        body,
        headTimeoutMs: route.timeoutMs,
        trace: timer.trace,
        onHead: head => {
          if (hasDisconnected(http) || raw.headersSent) return undefined
          timer.trace.noteLast({ status: head.status })
          const upstreamUrl = `${url.origin}${path}`
          const response = { ...forwarded, slot: taken, upstreamUrl, refuse, abort: () => abort() }
          return attempt(() => passResponse(head, response))
        },
        onBytes: count => {
          passage.responseBytes += count
        },
        onBroken: error => {
          passage.fail(error.message, resultOfFault(error.fault))
          raw.destroy()
        },
        onFault: fault => attempt(() => onFault(fault, taken)),
      })
      // The attempt may already have failed and been repeated at another address.
      if (slot === taken) abort = cut
    }
    const onTooLong = (): void => {
      refuse(tooLarge(maxRequestBytes), 'rejected')
      abort()
    }
    takeBody(forwarded, { maxBytes: maxRequestBytes, onTooLong }, taken => {
      if (hasDisconnected(http)) return
      body = taken
      timer.noteResolved()
      attempt(send)
    })
  }
