import type { Caller, CallLink } from '../execution/index.ts'
import { errorAnswer, type Refusal } from './answer.ts'
import { askUpstream, mayBeAsked } from './ask-upstream.ts'
import { type Call, createCall } from './call.ts'
import { createCallLink } from './call-links.ts'
import { checkParamHeaders } from './check-param-headers.ts'
import { answerAtOnce, callTool, findTool, isRefusal, type ReportFault } from './dispatcher.ts'
import { clientName } from './envelope.ts'
import { messageEvent } from './event-stream.ts'
import { type Exchange, writeAccepted, writeAnswer } from './exchange.ts'
import { checkStandardHeaders } from './headers.ts'
import type { Listen } from './listen.ts'
import { metaOf, type NotificationMessage, type RequestMessage } from './message.ts'
import type { Mounted } from './mounted.ts'
import { findLogLevel, META } from './protocol.ts'
import type { RequestStates } from './request-states.ts'
import { runCall, type StreamedAnswer } from './run-call.ts'
import { findStatelessPeer } from './stateless-peer.ts'
import { findStatelessUnlisted } from './unlisted.ts'

export type ServeStateless = (
  exchange: Exchange,
  mounted: Mounted,
  caller: Caller,
  message: RequestMessage | NotificationMessage,
) => void

/** Cancelled by closing it, and not resumable (2026-07-28, basic/transports). */
const streamAnswer = (exchange: Exchange, mounted: Mounted): StreamedAnswer => {
  const stream = mounted.openStream(exchange, '', () => {})
  return {
    send: json => stream.send(messageEvent(json)),
    end: json => stream.end(json === undefined ? undefined : messageEvent(json)),
    isResumable: false,
  }
}

/** Serves one POST of the stateless era, whose version is one that we speak. */
export const createStateless = (listen: Listen, states: RequestStates, report: ReportFault): ServeStateless => {
  /** In this era each request says itself whether it wants log messages, and what its client can be asked. */
  const linkOf = (request: RequestMessage, { serverId }: Mounted, call: Call): CallLink | Refusal => {
    const peer = findStatelessPeer(request, serverId, call.caller, states)
    if (peer !== undefined && 'code' in peer) return peer
    const level = findLogLevel(metaOf(request.params)?.[META.logLevel]) ?? 'none'
    return { ...createCallLink(request, call, call, level), peer }
  }
  const call = (exchange: Exchange, mounted: Mounted, caller: Caller, request: RequestMessage): void => {
    const { router } = mounted
    const { id, params } = request
    const listed = findTool(router, params)
    const found = isRefusal(listed) ? (findStatelessUnlisted(router, request) ?? listed) : listed
    if (isRefusal(found)) {
      writeAnswer(exchange, errorAnswer(id, found))
      return
    }
    const mismatch = checkParamHeaders(found.paramHeaders, params?.arguments, exchange.headers)
    if (mismatch !== undefined) {
      writeAnswer(exchange, errorAnswer(id, mismatch))
      return
    }
    const under = createCall(id, caller, clientName(metaOf(params)?.[META.clientInfo]))
    if (found.tool.isLinked === true) {
      const link = linkOf(request, mounted, under)
      if ('code' in link) {
        writeAnswer(exchange, errorAnswer(id, link))
        return
      }
      under.link = link
    }
    const answer = callTool(router, found, request, under, 'stateless', report)
    runCall({ exchange, request, call: under, answer, stream: () => streamAnswer(exchange, mounted), report })
  }
  /** Whether an upstream answers it. */
  const ask = (exchange: Exchange, mounted: Mounted, caller: Caller, request: RequestMessage): boolean => {
    const { router } = mounted
    if (!mayBeAsked(router, request)) return false
    const under = createCall(request.id, caller, clientName(metaOf(request.params)?.[META.clientInfo]))
    const link = linkOf(request, mounted, under)
    if ('code' in link) {
      writeAnswer(exchange, errorAnswer(request.id, link))
      return true
    }
    under.link = link
    const answer = askUpstream(router, request, under, 'stateless', report)
    if (answer === undefined) return false
    runCall({ exchange, request, call: under, answer, stream: () => streamAnswer(exchange, mounted), report })
    return true
  }
  return (exchange, mounted, caller, message) => {
    // Core has no notifications from clients over HTTP in this era: what comes is taken and dropped.
    if (message.kind === 'notification') {
      writeAccepted(exchange)
      return
    }
    const wrong = checkStandardHeaders(message, exchange.headers)
    if (wrong !== undefined) writeAnswer(exchange, errorAnswer(message.id, wrong))
    else if (message.method === 'tools/call') call(exchange, mounted, caller, message)
    else if (message.method === 'subscriptions/listen') listen(exchange, mounted, caller, message)
    else if (!ask(exchange, mounted, caller, message)) writeAnswer(exchange, answerAtOnce(mounted.router, message))
  }
}
