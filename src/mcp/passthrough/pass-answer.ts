import type { IncomingMessage } from 'node:http'
import { type Place, suffixOf } from '../../upstreams/index.ts'
import { type Refusal, refusal } from '../answer.ts'
import { writeHead } from '../exchange.ts'
import { headerOf } from '../headers.ts'
import { ERROR } from '../protocol.ts'
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
  'exchange' | 'caller' | 'token' | 'passage' | 'passthrough' | 'way' | 'publicPath'
> & {
  place: Place
  /** What was asked for there. */
  asked: string
  refuse: (reason: Refusal) => void
}

const isEventStream = ({ headers }: IncomingMessage): boolean =>
  headers['content-type']?.trimStart().toLowerCase().startsWith('text/event-stream') === true

/** What an address for messages is called by us; whoever sends there is sent where the stream is. */
const toOurEndpoint =
  ({ asked, place, publicPath, way }: AnswerPassing) =>
  (address: string): string | undefined => {
    const found = URL.parse(address, asked)
    const inside = found === null ? undefined : suffixOf(place.target, found)
    if (inside === undefined) return undefined
    const ours = `${inside.suffix}${inside.search}`
    way.balancer.remember(ours, place)
    return `${publicPath}${ours}`
  }

const streamOn = (answer: IncomingMessage, passing: AnswerPassing): void => {
  const { exchange, passage, way } = passing
  const { raw, incoming } = exchange
  const namesEndpoint = way.isSse && incoming.method === 'GET'
  const source = namesEndpoint ? answer.pipe(replaceEndpoint(toOurEndpoint(passing))) : answer
  source.on('error', error => {
    passage.error ??= error.message
    raw.destroy()
  })
  source.pipe(raw)
  // The first event may be long in coming, and the client waits for the head.
  raw.flushHeaders()
  passage.becomeStream(() => {
    source.unpipe(raw)
    raw.end()
    setTimeout(() => raw.destroy(), END_GRACE_MS).unref()
  })
}

const sendOn = (answer: IncomingMessage, location: string | undefined, passing: AnswerPassing): void => {
  const { exchange, passage } = passing
  const hasToken = exchange.headers.authorization !== undefined
  const { statusCode = 502, statusMessage = '', rawHeaders, headers } = answer
  const { raw } = exchange
  if (REASON.test(statusMessage)) raw.statusMessage = statusMessage
  writeHead(
    exchange,
    statusCode,
    buildAnswerHeaders({ rawHeaders, connection: headers.connection, hasToken, location }),
  )
  answer.on('data', (chunk: Buffer) => {
    passage.responseBytes += chunk.length
  })
  if (isEventStream(answer)) {
    streamOn(answer, passing)
    return
  }
  answer.pipe(raw)
  setImmediate(() => {
    if (answer.complete) return
    // One that says no length may be a stream of another kind, whose head its client waits for.
    if (headers['content-length'] === undefined && passage.responseBytes === 0) raw.flushHeaders()
    passage.lasts(() => raw.destroy())
  })
}

/** Hears the beginning of the upstream's answer, and sends it on, or says why not. */
export const passAnswer = (answer: IncomingMessage, passing: AnswerPassing): void => {
  const { exchange, caller, token, passage, passthrough, way, place, asked, publicPath, refuse } = passing
  const { statusCode: status = 502, headers } = answer
  passage.status = status
  if (saysNobody(status)) place.failed(`${place.target.url.host} answered ${status}`, false)
  else place.answered()
  const refuseWith = (reason: Refusal): void => {
    refuse(reason)
    answer.destroy()
  }
  if (isUnauthorized(status)) {
    if (token !== undefined) way.account?.renewSoon(caller?.userId, token)
    refuseWith(credentialsRefusal(status))
    return
  }
  const location = readLocation({
    status,
    location: headers.location,
    asked,
    targets: way.balancer.targets,
    publicPath,
    hasToken: exchange.headers.authorization !== undefined,
    holdsSecret: text => passthrough.holdsSecret(text) || (token !== undefined && text.includes(token)),
  })
  if (!location.ok) {
    refuseWith(refusal(502, ERROR.transport, location.error))
    return
  }
  const session = way.isSse ? undefined : headerOf(headers, 'mcp-session-id')
  if (session !== undefined) way.balancer.remember(session, place)
  sendOn(answer, location.value, passing)
}
