import { UNCOUNTED_BYTES } from '../../lib/outbound/response-memory.ts'
import type { Call } from '../call.ts'
import { CLOSED_CHANNEL, createPostChannel } from '../client-channel.ts'
import type { ReportFault } from '../http-exchange.ts'
import type { Message, RequestId, RequestMessage } from '../message.ts'
import { ERROR } from '../protocol.ts'
import type { BatchReply, Reply } from '../reply.ts'
import {
  CUT_BY_SHUTDOWN,
  errorResponse,
  isRefusal,
  type RpcResponse,
  refusal,
  responseText,
  resultResponse,
  sizeOf,
} from '../rpc-response.ts'
import type { ServerRequest } from '../server-request.ts'
import type { SessionStreams } from '../streams/session-streams.ts'
import { parseInitialize } from './initialize.ts'
import type { Session } from './session.ts'
import { receiveMessage, serveRequest } from './session-era.ts'
import { SESSION_HEADER } from './session-requirements.ts'
import type { Sessions } from './sessions.ts'

export type SessionPostsOptions = {
  sessions: Sessions
  streams: SessionStreams
  maxSessionsPerServer: number
  report: ReportFault
}

export const isInitialize = (message: Message): message is RequestMessage =>
  message.kind === 'request' && message.method === 'initialize'

/** Maximum total size of the responses of a batch. A batch may have a hundred, each as large as a page of a list. */
const MAX_BATCH_RESPONSE_BYTES = 8 * 1_024 * 1_024

const tooMuch = refusal(
  200,
  ERROR.internal,
  `The responses of this batch exceed ${MAX_BATCH_RESPONSE_BYTES} bytes in total: send this request by itself`,
)

/** The responses to the requests of a batch, which are sent together. */
const createBatchResponses = () => {
  /** Responses keyed by the index of their request, which are undefined for cancelled requests. */
  const responses = new Map<number, RpcResponse | undefined>()
  let bytes = 0
  return {
    /**
     * Adds a response, or an error instead of a response over the total limit. Returns whether the memory that is in
     * use until the batch has been sent needs no counting.
     */
    add: (index: number, id: RequestId, response: RpcResponse | undefined): boolean => {
      const size = response === undefined ? 0 : sizeOf(response)
      const isFitting = bytes + size <= MAX_BATCH_RESPONSE_BYTES
      responses.set(index, isFitting ? response : errorResponse(id, tooMuch))
      if (isFitting) bytes += size
      return !isFitting || size === 0 || bytes <= UNCOUNTED_BYTES
    },
    /** Joins the responses, with an error for each request that has none. Returns undefined if all were cancelled. */
    join: (ids: readonly RequestId[]): RpcResponse | undefined => {
      const all = ids.map((id, index) =>
        responses.has(index) ? responses.get(index) : errorResponse(id, CUT_BY_SHUTDOWN),
      )
      const texts = all.flatMap(response => (response === undefined ? [] : responseText(response)))
      return texts.length === 0
        ? undefined
        : { status: 200, head: `[${texts.join(',')}]`, rest: [], headers: undefined }
    },
  }
}

/** Handles POST requests of the session era, which start a session or carry messages within one. */
export const createSessionPosts = ({ sessions, streams, maxSessionsPerServer, report }: SessionPostsOptions) => ({
  /** Starts a session. */
  initialize: ({ mounted: { router }, caller }: ServerRequest, message: RequestMessage): Reply => {
    const parsed = parseInitialize(message.params)
    if (isRefusal(parsed)) return errorResponse(message.id, parsed)
    const { serverId, tier } = router.server.access
    const id = sessions.begin({ serverId, subject: caller?.userId, tier, ...parsed })
    if (id !== undefined) return resultResponse(message.id, router.initialize(parsed.version), [SESSION_HEADER, id])
    const why = `This server has reached its limit of ${maxSessionsPerServer} open sessions (PATCHBAY_MAX_SESSIONS_PER_SERVER)`
    const headers = ['retry-after', '60']
    return errorResponse(message.id, { ...refusal(503, ERROR.transport, why), headers })
  },

  dispatch: (request: ServerRequest, session: Session, message: Message): Reply => {
    const { router } = request.mounted
    if (message.kind !== 'request') {
      receiveMessage(router, session, message)
      return 'accepted'
    }
    const channel = createPostChannel(true, onCutOff => streams.streamResponse(request, session, onCutOff))
    const { caller, http } = request
    const { requestId } = http
    const started = serveRequest({ router, session, message, caller, requestId, channel, report })
    if (!('call' in started)) return started
    return { ...started, request: message, channel }
  },

  /** Handles a batch and sends its responses together. Cancelled requests have none (2025-03-26, basic/transports). */
  dispatchBatch: (
    { mounted: { router }, caller, http: { requestId } }: ServerRequest,
    session: Session,
    messages: readonly Message[],
  ): BatchReply | 'accepted' => {
    const pending: Promise<void>[] = []
    const ids: RequestId[] = []
    const responses = createBatchResponses()
    const calls: Call[] = []
    for (const message of messages) {
      if (message.kind !== 'request') {
        receiveMessage(router, session, message)
        continue
      }
      const index = ids.push(message.id) - 1
      const started = serveRequest({ router, session, message, caller, requestId, channel: CLOSED_CHANNEL, report })
      if (!('call' in started)) {
        responses.add(index, message.id, started)
        continue
      }
      const { call, response } = started
      calls.push(call)
      const add = (done: RpcResponse): void => {
        const isUncounted = responses.add(index, message.id, call.signal.aborted ? undefined : done)
        if (isUncounted) call.releases.end()
      }
      pending.push(response.then(add))
    }
    if (ids.length === 0) return 'accepted'
    const join = (): RpcResponse | undefined => responses.join(ids)
    return {
      responses: Promise.all(pending).then(join),
      cutOff: join,
      cancel: () => {
        for (const call of calls) call.signal.abort()
      },
      release: () => {
        for (const call of calls) call.releases.end()
      },
    }
  },
})
export type SessionPosts = ReturnType<typeof createSessionPosts>
