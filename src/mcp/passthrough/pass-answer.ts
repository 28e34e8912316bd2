import type { Writable } from 'node:stream'
import type { PassedHead } from '../../platform/net/index.ts'
import { type Place, suffixOf } from '../../upstreams/index.ts'
import { type Refusal, refusal } from '../answer.ts'
import { writeHead } from '../exchange.ts'
import { headerOf } from '../headers.ts'
import { ERROR } from '../protocol.ts'
import { SESSION_HEADER } from '../session-requirements.ts'
import { buildAnswerHeaders, readLocation } from './answer-headers.ts'
import { replaceEndpoint } from './endpoint-event.ts'
import type { RequestPassing } from './passing.ts'
import { credentialsRefusal, isUnauthorized, saysNobody } from './refusals.ts'

/** A reason phrase that can be written (RFC 9112 §4). */
const REASON = /^[\t\x20-\x7e]{1,200}$/
/** How long a client may take for what is left of a stream that is ended. */
const END_GRACE_MS = 1_000

export type AnswerPassing = Pick<
  RequestPassing,
  'exchange' | 'caller' | 'token' | 'passage' | 'passthrough' | 'way' | 'publicPath' | 'claimSession' | 'claimAddress'
> & {
  place: Place
  /** What was asked for there. */
  asked: string
  refuse: (reason: Refusal) => void
  /** Ends what goes on between here and the upstream. */
  breakOff: () => void
}

const isEventStream = ({ headers }: PassedHead): boolean =>
  headerOf(headers, 'content-type')?.trimStart().toLowerCase().startsWith('text/event-stream') === true

/** Whether a text holds what is configured for the upstream alone, or the token that it is shown. */
const holdsSecret = ({ passthrough, token }: AnswerPassing, text: string): boolean =>
  passthrough.holdsSecret(text) || (token !== undefined && text.includes(token))

/** What an address for messages is called by us; whoever sends there is sent where the stream is. */
const toOurEndpoint =
  (passing: AnswerPassing) =>
  (address: string): string | undefined => {
    const { asked, place, publicPath, way } = passing
    const found = URL.parse(address, asked)
    const inside = found === null ? undefined : suffixOf(place.target, found)
    if (inside === undefined) return undefined
    const ours = `${inside.suffix}${inside.search}`
    if (holdsSecret(passing, ours)) return undefined
    way.balancer.remember(ours, place)
    passing.claimAddress(inside)
    return `${publicPath}${ours}`
  }

/** The client's end of a stream, or what the first of its events goes through before. */
const openStream = (passing: AnswerPassing): Writable => {
  const { exchange, passage, way, breakOff } = passing
  const { raw, incoming } = exchange
  const namesEndpoint = way.isSse && incoming.method === 'GET'
  const first = namesEndpoint ? replaceEndpoint(toOurEndpoint(passing)) : undefined
  first?.on('error', error => {
    passage.error ??= error.message
    raw.destroy()
  })
  first?.pipe(raw)
  // The first event may be long in coming, and the client waits for the head.
  raw.flushHeaders()
  passage.becomeStream(() => {
    breakOff()
    first?.unpipe(raw)
    raw.end()
    setTimeout(() => raw.destroy(), END_GRACE_MS).unref()
  })
  return first ?? raw
}

const sendOn = (head: PassedHead, location: string | undefined, passing: AnswerPassing): Writable => {
  const { exchange, passage } = passing
  const hasToken = exchange.headers.authorization !== undefined
  const { status, statusText, headers } = head
  const { raw } = exchange
  if (REASON.test(statusText)) raw.statusMessage = statusText
  writeHead(exchange, status, buildAnswerHeaders({ headers, hasToken, location }))
  if (isEventStream(head)) return openStream(passing)
  setImmediate(() => {
    if (raw.writableEnded) return
    // One that says no length may be a stream of another kind, whose head its client waits for.
    if (headers['content-length'] === undefined && passage.responseBytes === 0) raw.flushHeaders()
    passage.lasts(() => raw.destroy())
  })
  return raw
}

/** Hears the beginning of the upstream's answer, and gives what the rest goes to; or says why not, and then gives nothing. */
export const passAnswer = (head: PassedHead, passing: AnswerPassing): Writable | undefined => {
  const { exchange, caller, token, passage, way, place, asked, publicPath, refuse } = passing
  const { status, headers } = head
  passage.status = status
  if (saysNobody(status)) place.failed(`${place.target.url.host} answered ${status}`, false)
  else place.answered()
  if (isUnauthorized(status)) {
    if (token !== undefined) way.account?.renewSoon(caller?.userId, token)
    refuse(credentialsRefusal(status))
    return undefined
  }
  const location = readLocation({
    status,
    location: headerOf(headers, 'location'),
    asked,
    targets: way.balancer.targets,
    publicPath,
    hasToken: exchange.headers.authorization !== undefined,
    holdsSecret: text => holdsSecret(passing, text),
  })
  if (!location.ok) {
    refuse(refusal(502, ERROR.transport, location.error))
    return undefined
  }
  const session = headerOf(headers, SESSION_HEADER)
  if (session !== undefined) {
    if (!way.isSse) way.balancer.remember(session, place)
    passing.claimSession(session)
  }
  return sendOn(head, location.value, passing)
}
