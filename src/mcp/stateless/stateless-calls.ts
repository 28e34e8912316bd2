import { type CallLink, findLogLevel } from '../../upstreams/connection/call-link.ts'
import { type Call, createCall } from '../call.ts'
import { callTool, findTool } from '../call-tool.ts'
import { type ClientChannel, createPostChannel, type PostChannel } from '../client-channel.ts'
import { clientName } from '../envelope.ts'
import { acceptsEventStream } from '../headers.ts'
import type { ReportFault } from '../http-exchange.ts'
import { metaOf, type RequestMessage } from '../message.ts'
import { META } from '../protocol.ts'
import { findStatelessUnlisted } from '../registry/unlisted.ts'
import type { Reply } from '../reply.ts'
import { errorResponse, isRefusal, type Refusal } from '../rpc-response.ts'
import type { ServerRequest } from '../server-request.ts'
import { mayAskUpstream, requestUpstream } from '../sessions/ask-upstream.ts'
import { createCallLink } from '../sessions/call-links.ts'
import { messageEvent } from '../streams/event-stream.ts'
import { checkParamHeaders } from './check-param-headers.ts'
import type { RequestStates } from './request-states.ts'
import { findStatelessPeer } from './stateless-peer.ts'

/**
 * Opens the channel of a request. A client cancels the request by closing the stream, which cannot be resumed
 * (2026-07-28, basic/transports).
 */
const openChannel = ({ http, mounted }: ServerRequest): PostChannel =>
  createPostChannel(acceptsEventStream(http.headers), () => {
    const stream = mounted.openStream(http, '', () => {})
    return {
      send: json => stream.send(messageEvent(json)),
      beat: stream.beat,
      end: json => stream.end(json === undefined ? undefined : messageEvent(json)),
      isResumable: false,
    }
  })

const startCall = (
  { caller, http: { requestId } }: ServerRequest,
  message: RequestMessage,
  channel: ClientChannel,
  link: CallLink | undefined,
): Call => {
  const client = clientName(metaOf(message.params)?.[META.clientInfo])
  return createCall(message, { caller, client, requestId }, channel, link)
}

/** Starts the calls of the stateless era. */
export const createStatelessCalls = (states: RequestStates, report: ReportFault) => {
  /** Builds the link from the log level and the client capabilities that the request states. */
  const linkFor = (
    { mounted, caller }: ServerRequest,
    message: RequestMessage,
    channel: ClientChannel,
  ): CallLink | Refusal => {
    const peer = findStatelessPeer(message, mounted.serverId, caller, states)
    if (peer !== undefined && isRefusal(peer)) return peer
    const level = findLogLevel(metaOf(message.params)?.[META.logLevel]) ?? 'none'
    return { ...createCallLink(message, channel, message, level), peer }
  }

  return {
    startToolCall: (request: ServerRequest, message: RequestMessage): Reply => {
      const { http, mounted } = request
      const { router } = mounted
      const { id, params } = message
      const listed = findTool(router, params)
      const found = isRefusal(listed) ? (findStatelessUnlisted(router, message) ?? listed) : listed
      if (isRefusal(found)) return errorResponse(id, found)
      const { tool, paramHeaders } = found.routed
      const mismatch = checkParamHeaders(paramHeaders, found.args, http.headers)
      if (mismatch !== undefined) return errorResponse(id, mismatch)
      const channel = openChannel(request)
      const link = tool.isLinked === true ? linkFor(request, message, channel) : undefined
      if (link !== undefined && isRefusal(link)) return errorResponse(id, link)
      const call = startCall(request, message, channel, link)
      const response = callTool(router, found, call, 'stateless', report)
      return { request: message, call, channel, response }
    },

    /**
     * Sends a request to its upstream. Returns undefined if no upstream offers the resource or prompt that the request
     * names.
     */
    requestUpstream: (request: ServerRequest, message: RequestMessage): Reply | undefined => {
      const { router } = request.mounted
      if (!mayAskUpstream(router, message)) return undefined
      const channel = openChannel(request)
      const link = linkFor(request, message, channel)
      if (isRefusal(link)) return errorResponse(message.id, link)
      const call = startCall(request, message, channel, link)
      const response = requestUpstream(router, message, call, 'stateless', report)
      return response && { request: message, call, channel, response }
    },
  }
}
export type StatelessCalls = ReturnType<typeof createStatelessCalls>
