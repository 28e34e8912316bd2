import type { Socket } from 'node:net'
import { type CallResult, resultOfFault } from '../../history/call-result.ts'
import type { ResponseHead } from '../../lib/outbound/dispatch.ts'
import { writeHead, writeRefusal } from '../../mcp/http-exchange.ts'
import { ERROR } from '../../mcp/protocol.ts'
import { type Refusal, refusal } from '../../mcp/rpc-response.ts'
import type { ReverseProxy } from '../proxy/reverse-proxy.ts'
import type { Upgrade } from '../proxy/upgrades.ts'
import { pathAt } from '../route/target.ts'
import { type ForwardedRequest, sessionOf } from './forwarded-request.ts'
import { createHopCheck } from './hop-by-hop.ts'
import { credentialsRefusal, downRefusal, faultRefusal, isUnauthorized } from './refusals.ts'
import { buildResponseHeaders, isPassedBack } from './response-headers.ts'

/** Checks a response that does not switch protocols. Returns a refusal if it must not reach the client. */
const refusalOf = ({ status, headers }: ResponseHead): Refusal | undefined => {
  if (isUnauthorized(status)) return credentialsRefusal(status)
  // A redirect would make the client connect to the upstream's address.
  if (headers.location !== undefined) {
    const why = 'The MCP server redirected the WebSocket request, which is not supported. Use the URL it redirects to.'
    return refusal(502, ERROR.transport, why)
  }
  return undefined
}

const buildSwitchingProtocols = ({ headers }: ResponseHead): string => {
  const isHop = createHopCheck(headers.connection)
  const lines = ['HTTP/1.1 101 Switching Protocols', 'connection: Upgrade', 'upgrade: websocket']
  for (const [name, values] of Object.entries(headers)) {
    if (isHop(name) || !isPassedBack(name)) continue
    for (const value of [values].flat()) lines.push(`${name}: ${value}`)
  }
  return `${lines.join('\r\n')}\r\n\r\n`
}

/** Passes all data on in both directions, until one side closes. */
const tunnel = (one: Socket, other: Socket): void => {
  for (const [from, to] of [
    [one, other],
    [other, one],
  ] as const) {
    // 'close' follows.
    from.on('error', () => {})
    from.once('close', () => to.destroySoon())
    from.pipe(to)
  }
}

/** Counts bytes sent after the upgrade. */
const countBytes = ({ socket }: Upgrade, { passage }: ForwardedRequest): void => {
  const { bytesRead, bytesWritten } = socket
  // Runs before the listener that records the request.
  socket.prependOnceListener('close', () => {
    passage.requestBytes = socket.bytesRead - bytesRead
    passage.responseBytes = socket.bytesWritten - bytesWritten
  })
}

export const createPassUpgrade =
  ({ proxy }: { proxy: ReverseProxy }) =>
  /** Passes on a WebSocket upgrade, and then all data until one side closes. */
  (upgrade: Upgrade, forwarded: ForwardedRequest): void => {
    const { http, passage, route, target } = forwarded
    const { incoming, socket, head: firstBytes } = upgrade
    const refuse = (reason: Refusal, callResult?: CallResult): void => {
      passage.fail(reason.message, callResult)
      if (!socket.destroyed) writeRefusal(http, reason)
    }
    const slot = route.balancer.take(sessionOf(forwarded), new Set())
    if (slot === undefined) {
      refuse(downRefusal(route))
      return
    }
    const { url } = slot.target
    socket.once('close', slot.release)
    // The socket can be closed at any time: there is no response before the upgrade, and either
    // side may close a WebSocket.
    passage.markStream(() => socket.destroy())
    countBytes(upgrade, forwarded)
    const noteStatus = (status: number): void => {
      passage.status = status
      slot.responded(status)
    }
    // Drops Content-Length: an upgrade has no body, and Node would take the next request for the body.
    const { 'content-length': _, ...headers } = forwarded.headers
    passage.timer.noteResolved()
    const abort = proxy.pass({
      organizationId: route.organizationId,
      url,
      method: incoming.method ?? 'GET',
      trace: passage.timer.trace,
      path: pathAt(slot.target, target),
      headers: { ...headers, host: url.host },
      body: undefined,
      headTimeoutMs: route.timeoutMs,
      onHead: head => {
        noteStatus(head.status)
        const reason = refusalOf(head)
        if (reason !== undefined) {
          refuse(reason)
          return undefined
        }
        const hasToken = http.headers.authorization !== undefined
        writeHead(http, head.status, buildResponseHeaders({ headers: head.headers, hasToken, location: undefined }))
        return http.raw
      },
      onBytes: () => {},
      onBroken: error => {
        passage.fail(error.message, resultOfFault(error.fault))
        socket.destroy()
      },
      onFault: fault => {
        slot.failed(fault.error.message, fault.isUnsent)
        refuse(faultRefusal(fault), resultOfFault(fault.error.fault))
      },
      onWebSocket: (head, other) => {
        noteStatus(head.status)
        socket.write(buildSwitchingProtocols(head), 'latin1')
        socket.unshift(firstBytes)
        tunnel(socket, other)
      },
    })
    socket.once('close', abort)
  }
