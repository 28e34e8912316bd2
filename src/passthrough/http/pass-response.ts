import type { Writable } from 'node:stream'
import { acceptsHtml } from '../../lib/http/reader.ts'
import type { ResponseHead } from '../../lib/outbound/dispatch.ts'
import { headerOf } from '../../mcp/headers.ts'
import { writeHead } from '../../mcp/http-exchange.ts'
import { ERROR } from '../../mcp/protocol.ts'
import { type Refusal, refusal } from '../../mcp/rpc-response.ts'
import { SESSION_HEADER } from '../../mcp/sessions/session-requirements.ts'
import type { Slot } from '../route/balancer.ts'
import { suffixOf } from '../route/target.ts'
import { replaceEndpoint } from './endpoint-event.ts'
import type { ForwardedRequest } from './forwarded-request.ts'
import { credentialsRefusal, isUnauthorized, writeBadGateway } from './refusals.ts'
import { buildResponseHeaders, readLocation } from './response-headers.ts'

/** A valid reason phrase (RFC 9112 §4). */
const REASON = /^[\t\x20-\x7e]{1,200}$/
/** Time for the client to read the remaining data after the stream has ended. */
const END_GRACE_MS = 1_000

type ForwardedResponse = ForwardedRequest & {
  slot: Slot
  /** The requested upstream URL. */
  upstreamUrl: string
  refuse: (reason: Refusal) => void
  abort: () => void
}

const isEventStream = ({ headers }: ResponseHead): boolean =>
  headerOf(headers, 'content-type')?.trimStart().toLowerCase().startsWith('text/event-stream') === true

/** Returns whether a string contains a secret from the upstream's configuration or the token sent to it. */
const holdsSecret = ({ passthrough, token }: ForwardedResponse, text: string): boolean =>
  passthrough.holdsSecret(text) || (token !== undefined && text.includes(token))

/** Translates the upstream's address for messages into an address on this server. */
const toOurEndpoint =
  (forwarded: ForwardedResponse) =>
  (address: string): string | undefined => {
    const { upstreamUrl, slot, publicPath, route } = forwarded
    const found = URL.parse(address, upstreamUrl)
    const inside = found === null ? undefined : suffixOf(slot.target, found)
    if (inside === undefined) return undefined
    const ours = `${inside.suffix}${inside.search}`
    if (holdsSecret(forwarded, ours)) return undefined
    route.balancer.remember(ours, slot)
    forwarded.claimAddress(inside)
    return `${publicPath}${ours}`
  }

/** Starts an event stream to the client. Returns the stream to which the upstream's bytes are written. */
const openStream = (forwarded: ForwardedResponse): Writable => {
  const { http, passage, route, abort } = forwarded
  const { raw, incoming } = http
  const namesEndpoint = route.isSse && incoming.method === 'GET'
  const first = namesEndpoint ? replaceEndpoint(toOurEndpoint(forwarded)) : undefined
  first?.on('error', error => {
    passage.fail(error.message)
    raw.destroy()
  })
  first?.pipe(raw)
  // Sends the head now, because clients wait for it and the first event may come much later.
  raw.flushHeaders()
  passage.markStream(() => {
    abort()
    first?.unpipe(raw)
    raw.end()
    setTimeout(() => raw.destroy(), END_GRACE_MS).unref()
  })
  return first ?? raw
}

const sendHead = (head: ResponseHead, location: string | undefined, forwarded: ForwardedResponse): Writable => {
  const { http, passage } = forwarded
  const hasToken = http.headers.authorization !== undefined
  const { status, statusText, headers } = head
  const { raw } = http
  if (REASON.test(statusText)) raw.statusMessage = statusText
  writeHead(http, status, buildResponseHeaders({ headers, hasToken, location }))
  if (isEventStream(head)) return openStream(forwarded)
  setImmediate(() => {
    if (raw.writableEnded) return
    // A response without a length may be another kind of stream, and clients wait for the head.
    if (headers['content-length'] === undefined && passage.responseBytes === 0) raw.flushHeaders()
    passage.markSlow(() => raw.destroy())
  })
  return raw
}

/**
 * Handles the head of the upstream's response. Returns where to write the body, or undefined if the
 * response was refused.
 */
export const passResponse = (head: ResponseHead, forwarded: ForwardedResponse): Writable | undefined => {
  const { http, caller, token, passage, route, slot, upstreamUrl, publicPath, refuse } = forwarded
  const { status, headers } = head
  passage.status = status
  slot.responded(status)
  if (isUnauthorized(status)) {
    if (token !== undefined) route.account?.renewSoon(caller?.userId, token)
    refuse(credentialsRefusal(status))
    return undefined
  }
  const isForPage = acceptsHtml(http.headers)
  const location = readLocation({
    status,
    location: headerOf(headers, 'location'),
    upstreamUrl,
    targets: route.balancer.targets,
    publicPath,
    hasToken: http.headers.authorization !== undefined,
    isForPage,
    holdsSecret: text => holdsSecret(forwarded, text),
  })
  if (!location.ok) {
    if (!isForPage) refuse(refusal(502, ERROR.transport, location.error))
    else {
      passage.fail(location.error)
      writeBadGateway(http, location.error)
    }
    return undefined
  }
  const session = headerOf(headers, SESSION_HEADER)
  if (session !== undefined) {
    if (!route.isSse) route.balancer.remember(session, slot)
    forwarded.claimSession(session)
  }
  return sendHead(head, location.value, forwarded)
}
