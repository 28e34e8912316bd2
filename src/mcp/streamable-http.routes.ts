import type { Caller } from '../execution/index.ts'
import type { JsonValue } from '../kernel/index.ts'
import { errorAnswer, refusal } from './answer.ts'
import { type BodyLimits, parseBody, readBody } from './body.ts'
import type { Challenges } from './challenges.ts'
import { type Classified, classify } from './classify.ts'
import type { ReportFault } from './dispatcher.ts'
import { type Exchange, writeAnswer, writeHead, writeRefusal } from './exchange.ts'
import { acceptsEventStream, headerOf } from './headers.ts'
import { type CheckRoom, createListen } from './listen.ts'
import { readableId } from './message.ts'
import type { Mounted } from './mounted.ts'
import { ERROR, isStatelessVersion } from './protocol.ts'
import type { RequestStates } from './request-states.ts'
import { findLackingScopes } from './scopes.ts'
import { createSessionPosts } from './session-posts.ts'
import { checkVersion, findSession, isRefused, notAcceptable, SESSION_HEADER } from './session-requirements.ts'
import { createSessionStreams } from './session-streams.ts'
import type { Sessions } from './sessions.ts'
import { createStateless } from './stateless.ts'
import type { StreamAccess } from './stream-access.ts'

export type StreamableHttpOptions = {
  sessions: Sessions
  states: RequestStates
  limits: BodyLimits & { maxSessionsPerServer: number }
  challenges: Challenges
  checkRoom: CheckRoom
  access: StreamAccess
  now: () => number
  report: ReportFault
}

const namesStateless = ({ headers }: Exchange): boolean => {
  const version = headerOf(headers, 'mcp-protocol-version')
  return version !== undefined && isStatelessVersion(version)
}

/** POST, GET and DELETE of `/s/:uuid`, behind the checks of access. */
export const createStreamableHttp = (options: StreamableHttpOptions) => {
  const { sessions, states, limits, challenges, checkRoom, access, now, report } = options
  const { maxSessionsPerServer } = limits
  const streams = createSessionStreams(access, now)
  const serveSession = createSessionPosts({ sessions, streams, maxSessionsPerServer, report })
  const serveStateless = createStateless(createListen(checkRoom, access), states, report)

  /** Whether the caller's token lacks a scope; then that is what it is told. */
  const isBeyondScope = (exchange: Exchange, { router }: Mounted, caller: Caller, classified: Classified): boolean => {
    const isBatch = classified.era === 'session-batch'
    const messages = isBatch ? classified.messages : [classified.message]
    const lacking = findLackingScopes(caller, router, messages)
    if (lacking === undefined) return false
    const id = !isBatch && classified.message.kind === 'request' ? classified.message.id : null
    challenges.refuseScope(exchange, id, lacking)
    return true
  }

  const serveBody = (exchange: Exchange, mounted: Mounted, caller: Caller, body: JsonValue): void => {
    const { headers } = exchange
    const classified = classify(body, {
      version: headerOf(headers, 'mcp-protocol-version'),
      method: headerOf(headers, 'mcp-method'),
    })
    if (!classified.ok) writeAnswer(exchange, errorAnswer(readableId(body), classified.error))
    else if (caller?.limitedTo !== undefined && isBeyondScope(exchange, mounted, caller, classified.value)) return
    else if (classified.value.era === 'stateless') {
      serveStateless(exchange, mounted, caller, classified.value.message)
    } else serveSession(exchange, mounted, caller, classified.value)
  }

  const post = (exchange: Exchange, mounted: Mounted, caller: Caller): void => {
    const take = (bytes: Buffer): void => {
      const body = parseBody(bytes, limits)
      if (body.ok) serveBody(exchange, mounted, caller, body.value)
      else writeRefusal(exchange, body.error)
    }
    readBody(exchange, limits.maxRequestBytes, take, report)
  }

  const get = (exchange: Exchange, mounted: Mounted, caller: Caller): void => {
    if (namesStateless(exchange)) refuseMethod(exchange, 'POST')
    else if (!acceptsEventStream(exchange.headers)) writeRefusal(exchange, notAcceptable('text/event-stream'))
    else {
      const session = findSession(sessions, exchange, mounted, caller)
      const refused = isRefused(session) ? session : (checkVersion(exchange) ?? checkRoom(mounted))
      if (refused !== undefined) writeRefusal(exchange, refused)
      else if (!isRefused(session)) streams.openStream(exchange, mounted, session, caller)
    }
  }

  const remove = (exchange: Exchange, mounted: Mounted, caller: Caller): void => {
    if (namesStateless(exchange)) {
      refuseMethod(exchange, 'POST')
      return
    }
    const session = findSession(sessions, exchange, mounted, caller)
    const refused = isRefused(session) ? session : checkVersion(exchange)
    if (refused !== undefined) writeRefusal(exchange, refused)
    else if (!isRefused(session)) {
      sessions.end(headerOf(exchange.headers, SESSION_HEADER) ?? '', session)
      writeHead(exchange, 200, ['content-length', '0'])
      exchange.raw.end()
    }
  }

  return { post, get, delete: remove }
}

export const refuseMethod = (exchange: Exchange, allowed: string): void =>
  writeRefusal(exchange, refusal(405, ERROR.transport, 'Method not allowed'), ['allow', allowed])
