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

/** Renders the responses to a batch. Replaces responses over the total limit with errors. `ids` are the request ids. */
const batchTexts = (ids: readonly RequestId[], responses: readonly (RpcResponse | undefined)[]): string[] => {
  let bytes = 0
  return responses.flatMap((response, index) => {
    if (response === undefined) return []
    const size = sizeOf(response)
    const isFitting = bytes + size <= MAX_BATCH_RESPONSE_BYTES
    if (isFitting) bytes += size
    return responseText(isFitting ? response : errorResponse(ids[index] ?? null, tooMuch))
  })
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
    const started = serveRequest({ router, session, message, caller: request.caller, channel, report })
    if (!('call' in started)) return started
    return { ...started, request: message, channel }
  },

  /** Handles a batch and sends its responses together. Cancelled requests have none (2025-03-26, basic/transports). */
  dispatchBatch: (
    { mounted: { router }, caller }: ServerRequest,
    session: Session,
    messages: readonly Message[],
  ): BatchReply | 'accepted' => {
    const pending: Promise<void>[] = []
    const ids: RequestId[] = []
    /** By the index of the request; undefined if it was cancelled. */
    const responses = new Map<number, RpcResponse | undefined>()
    const cancels: (() => void)[] = []
    for (const message of messages) {
      if (message.kind !== 'request') {
        receiveMessage(router, session, message)
        continue
      }
      const index = ids.push(message.id) - 1
      const started = serveRequest({ router, session, message, caller, channel: CLOSED_CHANNEL, report })
      if (!('call' in started)) {
        responses.set(index, started)
        continue
      }
      const { call, response } = started
      cancels.push(call.signal.abort)
      const done = response.then(done => void responses.set(index, call.signal.aborted ? undefined : done))
      pending.push(done.finally(call.releases.end))
    }
    if (ids.length === 0) return 'accepted'
    const join = (): RpcResponse | undefined =>
      joinResponses(
        ids,
        ids.map((id, index) => (responses.has(index) ? responses.get(index) : errorResponse(id, CUT_BY_SHUTDOWN))),
      )
    return {
      responses: Promise.all(pending).then(join),
      cutOff: join,
      cancel: () => {
        for (const cancel of cancels) cancel()
      },
    }
  },
})
export type SessionPosts = ReturnType<typeof createSessionPosts>

const joinResponses = (
  ids: readonly RequestId[],
  responses: readonly (RpcResponse | undefined)[],
): RpcResponse | undefined => {
  const texts = batchTexts(ids, responses)
  return texts.length === 0 ? undefined : { status: 200, head: `[${texts.join(',')}]`, rest: [], headers: undefined }
}
