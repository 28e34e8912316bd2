import type { IncomingMessage } from 'node:http'
import type { ReverseProxy, Upgrade } from '../../platform/net/index.ts'
import { pathAt } from '../../upstreams/index.ts'
import { writeRefusal } from '../exchange.ts'
import { CONFINED, isPassedBack } from './answer-headers.ts'
import { type RequestPassing, sessionOf } from './passing.ts'
import { downRefusal, faultRefusal, isUnauthorized, RETRY_SOON, saysNobody } from './refusals.ts'

/** Takes out of an answer what is not for our clients, before it is written as it is. */
const clean = (answer: IncomingMessage): void => {
  const { headers, statusCode = 502 } = answer
  for (const name of Object.keys(headers)) if (!isPassedBack(name)) delete headers[name]
  if (statusCode === 101) return
  for (const [name, value] of CONFINED) headers[name] = value
  // Where it leads a client that wants a WebSocket is an address of the upstream's.
  const isRedirect = headers.location !== undefined
  delete headers.location
  delete headers['content-location']
  if (!isRedirect && !isUnauthorized(statusCode)) return
  const why = isRedirect ? 'redirected' : `answered ${statusCode} to its credentials`
  answer.statusMessage = `Bad Gateway: the upstream ${why}`
  answer.statusCode = 502
}

/** What both sides say in the new protocol counts, and nothing that came before. */
const countBytes = ({ socket }: Upgrade, { passage }: RequestPassing): void => {
  const { bytesRead, bytesWritten } = socket
  // Before what closes its account.
  socket.prependOnceListener('close', () => {
    passage.requestBytes = socket.bytesRead - bytesRead
    passage.responseBytes = socket.bytesWritten - bytesWritten
  })
}

export const createPassUpgrade =
  ({ proxy }: { proxy: ReverseProxy }) =>
  /** Sends the wish for a WebSocket on, and then whatever is said over it, until one side ends it. */
  (upgrade: Upgrade, passing: RequestPassing): void => {
    const { exchange, passage, way, target } = passing
    const { incoming, socket, head } = upgrade
    const place = way.balancer.take(sessionOf(passing), new Set())
    if (place === undefined) {
      const reason = downRefusal(way)
      passage.error = reason.message
      writeRefusal(exchange, reason, RETRY_SOON)
      return
    }
    const { url } = place.target
    socket.once('close', place.leave)
    // Nothing has been said over it yet, or all that is said is lost with either side: it is cut whenever it is to end.
    passage.becomeStream(() => socket.destroy())
    countBytes(upgrade, passing)
    // A wish has no body: with a length its connection would wait for one, and find it in the request after it.
    const { 'content-length': _, ...headers } = passing.headers
    proxy.passUpgrade(incoming, socket, head, {
      url,
      path: pathAt(place.target, target.suffix, target.search),
      headers: { ...headers, host: url.host, connection: 'Upgrade', upgrade: 'websocket' },
      headTimeoutMs: way.timeoutMs,
      onAnswer: answer => {
        passage.status = answer.statusCode
        if (saysNobody(answer.statusCode ?? 502)) place.failed(`${url.host} answered ${answer.statusCode}`, false)
        else place.answered()
        clean(answer)
      },
      onOpen: other => {
        socket.once('close', () => other.destroySoon())
        other.once('close', () => socket.destroySoon())
      },
      onFault: fault => {
        if (socket.destroyed) return
        place.failed(fault.error.message, fault.isUnsent)
        const reason = faultRefusal(fault)
        passage.error = reason.message
        writeRefusal(exchange, reason, fault.isUnsent ? RETRY_SOON : [])
      },
    })
  }
