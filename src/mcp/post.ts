import type { Admit } from './admission.ts'
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
  admit: Admit
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
 * 1. `findServer` (admission.ts): checks Host, finds the mounted server by its UUID
 * 2. `checkOrigin` (admission.ts): checks Origin by the rules of this server
 * 3. `checkAccess` (admission.ts): finds the caller by token, creates the `ServerRequest`
 * 4. `readBody` (body.ts): reads the bytes, within the limit; repeats steps 1 to 3 if they arrive after the head
 * 5. `parseBody` (body.ts): parses the bytes as JSON
 * 6. `classify` (classify.ts): parses the messages and determines their era
 * 7. `checkScopes` (scopes.ts): checks that the token allows the messages
 * 8. stateless era: `checkStandardHeaders` (headers.ts);
 *    session era: `checkAccept`, `findSession`, `checkVersion` (sessions/session-requirements.ts)
 * 9. dispatch: a notification, tools/call or another request (stateless/, sessions/)
 * 10. `writeReply` (reply.ts): writes JSON, 202 or an event stream
 *
 * Step 9 for a tools/call:
 *
 * - `startToolCall` (stateless/stateless-calls.ts, or sessions/session-posts.ts and sessions/session-era.ts)
 * - `findTool` and `callTool` (call-tool.ts)
 * - `CompiledTool.call` of an HTTP tool (runtime/compile-tool.ts), which records what `performCall` did
 * - `performCall` (runtime/perform-call.ts): resolves the arguments, renders and sends the request, shapes the result
 */
export const createPost = (options: PostOptions) => {
  const { admit, limits, challenges, sessions, sessionPosts, statelessCalls, listen, report } = options

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

  return ({ http, ...admitted }: ServerRequest): void => {
    // A body that was received with the head is handled before this. Until any other arrives, the access may have ended.
    let isLate = false
    setImmediate(() => {
      isLate = true
    })
    const handleBody = (bytes: Buffer): void => {
      const reply = (request: ServerRequest): void => writeReply(http, respond(request, bytes), report)
      if (isLate) admit(http, reply)
      else reply({ http, ...admitted })
    }
    readBody(http, limits.maxRequestBytes, handleBody, report)
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
