import { type BodyLimits, parseBody, readBody } from './body.ts'
import type { Challenges } from './challenges.ts'
import { type Classified, classify, invalidRequest } from './classify.ts'
import { checkStandardHeaders, headerOf } from './headers.ts'
import type { ReportFault } from './http-exchange.ts'
import { type Message, readableId } from './message.ts'
import { BATCH_VERSION } from './protocol.ts'
import { type Reply, writeReply } from './reply.ts'
import { respondAtOnce } from './respond.ts'
import { errorResponse, isRefusal, type Refusal } from './rpc-response.ts'
import { findLackingScopes } from './scopes.ts'
import type { ServerRequest } from './server-request.ts'
import { isInitialize, type SessionPosts } from './sessions/session-posts.ts'
import { checkAccept, checkVersion, findSession } from './sessions/session-requirements.ts'
import type { Sessions } from './sessions/sessions.ts'
import type { StatelessCalls } from './stateless/stateless-calls.ts'
import type { Listen } from './streams/listen.ts'

export type PostOptions = {
  limits: BodyLimits
  challenges: Challenges
  sessions: Sessions
  sessionPosts: SessionPosts
  statelessCalls: StatelessCalls
  listen: Listen
  report: ReportFault
}

/**
 * Handles a POST to `/s/:uuid` in these steps. Each step returns a value for the next step, or a refusal, which is
 * written and ends the request.
 *
 * 1. checkOrigin checks Origin and Host admission.ts
 * 2. findServer finds the mounted server by its UUID admission.ts
 * 3. checkAccess finds the caller by token, creates `ServerRequest` admission.ts
 * 4. readBody reads the bytes, within the limit body.ts
 * 5. parseBody parses the bytes as JSON body.ts
 * 6. classify parses the messages and determines their era classify.ts
 * 7. checkScopes checks that the token allows the messages scopes.ts
 * 8. checkStandardHeaders (stateless era) headers.ts
 * checkAccept, findSession, checkVersion (session era) sessions/session-requirements.ts
 * 9. dispatch handles a notification, tools/call or other request stateless/, sessions/
 * tools/call: stateless/stateless-calls.ts, or sessions/session-posts.ts and session-era.ts,
 * then callTool in call-tool.ts, then `CompiledTool.call`
 * 10. writeReply writes JSON, 202 or an event stream reply.ts
 */
export const createPost = (options: PostOptions) => {
  const { limits, challenges, sessions, sessionPosts, statelessCalls, listen, report } = options

  const checkScopes = ({ http, mounted, caller }: ServerRequest, classified: Classified): Refusal | undefined => {
    const messages = classified.era === 'session-batch' ? classified.messages : [classified.message]
    const lacking = findLackingScopes(caller, mounted.router, messages)
    return lacking && challenges.insufficientScope(http, lacking)
  }

  /** Runs steps 8 and 9 for a message of the stateless era. */
  const dispatchStateless = (request: ServerRequest, message: StatelessMessage): Reply => {
    // This era defines no client notifications over HTTP, so any that arrive are accepted and dropped.
    if (message.kind === 'notification') return 'accepted'
    const mismatch = checkStandardHeaders(message, request.http.headers)
    if (mismatch !== undefined) return errorResponse(message.id, mismatch)
    if (message.method === 'tools/call') return statelessCalls.startToolCall(request, message)
    if (message.method === 'subscriptions/listen') return listen(request, message)
    return statelessCalls.requestUpstream(request, message) ?? respondAtOnce(request.mounted.router, message)
  }

  /** Runs steps 8 and 9 for messages of the session era. */
  const dispatchInSession = (request: ServerRequest, classified: SessionMessages): Reply => {
    const { http } = request
    const unacceptable = checkAccept(http)
    if (unacceptable !== undefined) return refused(unacceptable)
    const isBatch = classified.era === 'session-batch'
    if (isBatch && classified.messages.some(isInitialize)) return refused(INITIALIZE_IN_BATCH)
    const session = findSession(sessions, request)
    if (isRefusal(session)) {
      const message = isBatch ? undefined : classified.message
      return message && isInitialize(message) ? sessionPosts.initialize(request, message) : refused(session)
    }
    const wrongVersion = checkVersion(http)
    if (wrongVersion !== undefined) return refused(wrongVersion)
    if (!isBatch) return sessionPosts.dispatch(request, session, classified.message)
    if (session.version === BATCH_VERSION) return sessionPosts.dispatchBatch(request, session, classified.messages)
    return refused(invalidRequest(`version ${session.version} does not support batches`))
  }

  /** Runs steps 5 to 9. */
  const respond = (request: ServerRequest, bytes: Buffer): Reply => {
    const { headers } = request.http
    const body = parseBody(bytes, limits)
    if (!body.ok) return errorResponse(null, body.error)
    const classified = classify(body.value, {
      version: headerOf(headers, 'mcp-protocol-version'),
      method: headerOf(headers, 'mcp-method'),
    })
    if (!classified.ok) return errorResponse(readableId(body.value), classified.error)
    const denied = checkScopes(request, classified.value)
    if (denied !== undefined) return errorResponse(requestIdOf(classified.value), denied)
    return classified.value.era === 'stateless'
      ? dispatchStateless(request, classified.value.message)
      : dispatchInSession(request, classified.value)
  }

  return (request: ServerRequest): void => {
    const handleBody = (bytes: Buffer): void => writeReply(request.http, respond(request, bytes), report)
    readBody(request.http, limits.maxRequestBytes, handleBody, report)
  }
}

type StatelessMessage = Extract<Classified, { era: 'stateless' }>['message']
type SessionMessages = Exclude<Classified, { era: 'stateless' }>

const INITIALIZE_IN_BATCH = invalidRequest('initialize cannot be part of a batch')

/** Responds to a request that is refused because of its HTTP headers. The response has no id. */
const refused = (reason: Refusal): Reply => errorResponse(null, reason)

const requestIdOf = (classified: Classified) => {
  const message: Message | undefined = classified.era === 'session-batch' ? undefined : classified.message
  return message?.kind === 'request' ? message.id : null
}
