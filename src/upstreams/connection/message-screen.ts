import type { JSONRPCMessage, RequestId } from '@modelcontextprotocol/client'
import { isJsonObject, type JsonValue } from '../../lib/kernel/json.ts'
import { MAX_MESSAGES_PER_SECOND, type MessageLimit } from './message-limit.ts'

/** JSON-RPC reserves -32000 to -32099 for the errors of implementations. */
const TOO_MANY_REQUESTS = -32_000

const isId = (value: unknown): value is RequestId => typeof value === 'string' || typeof value === 'number'

/** The requests of one connection that have no response yet. */
export const createAwaitedRequests = () => {
  const ids = new Set<RequestId>()
  return {
    add: (id: RequestId): void => void ids.add(id),
    /** Returns whether the request had no response yet. */
    settle: (id: RequestId): boolean => ids.delete(id),
    has: (id: unknown): boolean => isId(id) && ids.has(id),
  }
}

export type AwaitedRequests = ReturnType<typeof createAwaitedRequests>

/** The error for a request over the limit. */
const refuseRequest = (id: RequestId): JSONRPCMessage => ({
  jsonrpc: '2.0',
  id,
  error: {
    code: TOO_MANY_REQUESTS,
    message: `Too many requests: at most ${MAX_MESSAGES_PER_SECOND} per second are handled`,
  },
})

export type MessageScreenOptions = {
  limit: MessageLimit
  awaited: AwaitedRequests
  /** Sends a response to the upstream. */
  send: (message: JSONRPCMessage) => void
}

/** Decides which messages of one connection are handled. */
export const createMessageScreen = ({ limit, awaited, send }: MessageScreenOptions) => {
  const refuse = (message: JsonValue): false => {
    if (!isJsonObject(message) || !('method' in message) || !isId(message.id)) return limit.drop(false)
    if (limit.acceptRefusal()) send(refuseRequest(message.id))
    return false
  }
  const isAwaited = (message: JsonValue): boolean =>
    isJsonObject(message) && !('method' in message) && awaited.has(message.id)

  return {
    limit,
    /** Returns whether to handle a parsed message. Refuses or drops it if not. */
    accept: (message: JsonValue, bytes: number): boolean => {
      if (isAwaited(message)) return true
      if (isJsonObject(message) && 'method' in message && !('id' in message)) {
        return limit.acceptNotification(bytes, String(message.method).endsWith('list_changed'))
      }
      return limit.acceptRequest(bytes) || refuse(message)
    },
    /** Returns whether a message over the limit must be handled nevertheless. Refuses or drops it if not. */
    acceptOverLimit: (message: JsonValue): boolean => isAwaited(message) || refuse(message),
  }
}

export type MessageScreen = ReturnType<typeof createMessageScreen>
