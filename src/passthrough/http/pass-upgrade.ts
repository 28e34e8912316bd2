import type { IncomingMessage } from 'node:http'
import { writeRefusal } from '../../mcp/http-exchange.ts'
import type { ReverseProxy } from '../proxy/reverse-proxy.ts'
import type { Upgrade } from '../proxy/upgrades.ts'
import { pathAt } from '../route/target.ts'
import { type ForwardedRequest, sessionOf } from './forwarded-request.ts'
import { downRefusal, faultRefusal, isGatewayError, isUnauthorized } from './refusals.ts'
import { CONFINED, isPassedBack } from './response-headers.ts'

/** Removes from the response what clients must not see. */
const clean = (response: IncomingMessage): void => {
  const { headers, statusCode = 502 } = response
  for (const name of Object.keys(headers)) if (!isPassedBack(name)) delete headers[name]
  if (statusCode === 101) return
  for (const [name, value] of CONFINED) headers[name] = value
  // A redirect would send the client to an address of the upstream.
  const isRedirect = headers.location !== undefined
  delete headers.location
  delete headers['content-location']
  if (!isRedirect && !isUnauthorized(statusCode)) return
  const why = isRedirect ? 'redirected' : `responded with ${statusCode} to its credentials`
  response.statusMessage = `Bad Gateway: the upstream ${why}`
  response.statusCode = 502
}

/** Counts the bytes after the upgrade only. */
const countBytes = ({ socket }: Upgrade, { passage }: ForwardedRequest): void => {
  const { bytesRead, bytesWritten } = socket
  // Runs before the listener that records the passage.
  socket.prependOnceListener('close', () => {
    passage.requestBytes = socket.bytesRead - bytesRead
    passage.responseBytes = socket.bytesWritten - bytesWritten
  })
}

export const createPassUpgrade =
  ({ proxy }: { proxy: ReverseProxy }) =>
  /** Passes a WebSocket upgrade on, and then all data until one side closes. */
  (upgrade: Upgrade, forwarded: ForwardedRequest): void => {
    const { http, passage, route, target } = forwarded
    const { incoming, socket, head } = upgrade
    const slot = route.balancer.take(sessionOf(forwarded), new Set())
    if (slot === undefined) {
      const reason = downRefusal(route)
      passage.error = reason.message
      writeRefusal(http, reason)
      return
    }
    const { url } = slot.target
    socket.once('close', slot.release)
    // It can be cut at any time: no response precedes the upgrade, and afterwards data is lost with either side anyway.
    passage.markStream(() => socket.destroy())
    countBytes(upgrade, forwarded)
    // An upgrade has no body. With a length, the connection would wait for one and take it from the next request.
    const { 'content-length': _, ...headers } = forwarded.headers
    proxy.passUpgrade(incoming, socket, head, {
      url,
      path: pathAt(slot.target, target.suffix, target.search),
      headers: { ...headers, host: url.host, connection: 'Upgrade', upgrade: 'websocket' },
      headTimeoutMs: route.timeoutMs,
      onResponse: response => {
        passage.status = response.statusCode
        if (isGatewayError(response.statusCode ?? 502))
          slot.failed(`${url.host} responded with ${response.statusCode}`, false)
        else slot.succeeded()
        clean(response)
      },
      onOpen: other => {
        socket.once('close', () => other.destroySoon())
        other.once('close', () => socket.destroySoon())
      },
      onFault: fault => {
        if (socket.destroyed) return
        slot.failed(fault.error.message, fault.isUnsent)
        const reason = faultRefusal(fault)
        passage.error = reason.message
        writeRefusal(http, reason)
      },
    })
  }
