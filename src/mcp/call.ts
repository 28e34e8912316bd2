import { createReleases, type Releases } from '../lib/kernel/releases.ts'
import { createStop, type Stop } from '../lib/kernel/stop-signal.ts'
import type { CallContext } from '../runtime/call/compiled-tool.ts'
import type { CallLink } from '../upstreams/connection/call-link.ts'
import type { ClientChannel } from './client-channel.ts'
import type { RequestId, RequestMessage } from './message.ts'
import type { RpcResponse } from './rpc-response.ts'

/**
 * The context of a running request. The sender of its response ends its `releases` afterwards.
 * A client that cancels the request gets no response.
 */
export type Call = CallContext & {
  readonly id: RequestId
  readonly signal: Stop
  readonly releases: Releases
  /** Sends messages to the client before the response. */
  readonly channel: ClientChannel
}

/** A running request, which can be cancelled until it has a response. */
export type RunningCall = { call: Call; response: Promise<RpcResponse> }

/** The caller, client and HTTP request of a call. */
export type CallOrigin = Pick<CallContext, 'caller' | 'client' | 'requestId'>

export const createCall = (
  { id }: RequestMessage,
  { caller, client, requestId }: CallOrigin,
  channel: ClientChannel,
  link?: CallLink,
): Call => ({ id, caller, client, requestId, signal: createStop(), releases: createReleases(), link, channel })
