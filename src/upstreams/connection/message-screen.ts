import type { JSONRPCMessage, RequestId } from '@modelcontextprotocol/client'
import { isJsonObject, type JsonObject, type JsonValue } from '../../lib/kernel/json.ts'
import { MAX_MESSAGES_OF_ORGANIZATION, MAX_MESSAGES_PER_SECOND, type MessageLimit } from './message-limit.ts'

/** JSON-RPC reserves -32000 to -32099 for the errors of implementations. */
const TOO_MANY_REQUESTS = -32_000

const isId = (value: unknown): value is RequestId => typeof value === 'string' || typeof value === 'number'

/** The requests of one connection that have no response yet. */
export const createAwaitedRequests = () => {
  /** Each id with whether its first response has been accepted, but not handled yet. */
  const ids = new Map<RequestId, boolean>()
  return {
    add: (id: RequestId): void => void ids.set(id, false),
    /** Returns whether the request had no response yet. */
    settle: (id: RequestId): boolean => ids.delete(id),
    /** Returns whether this is the first response that arrives for an awaited request. */
    claim: (id: unknown): boolean => {
      if (!isId(id) || ids.get(id) !== false) return false
      ids.set(id, true)
      return true
    },
  }
}

export type AwaitedRequests = ReturnType<typeof createAwaitedRequests>

/** The error for a request over the limit. */
const refuseRequest = (id: RequestId): JSONRPCMessage => ({
  jsonrpc: '2.0',
  id,
  error: {
    code: TOO_MANY_REQUESTS,
    message: `Too many requests: at most ${MAX_MESSAGES_PER_SECOND} per second are handled, and ${MAX_MESSAGES_OF_ORGANIZATION} of all MCP servers of the organization`,
  },
})

const changesLists = ({ method }: JsonObject): boolean => String(method).endsWith('list_changed')

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
  const claim = (message: JsonValue): boolean =>
    isJsonObject(message) && !('method' in message) && awaited.claim(message.id)
  const isNotification = (message: JsonValue): message is JsonObject =>
    isJsonObject(message) && 'method' in message && !('id' in message)

  return {
    limit,
    /** Returns whether a response with this id is the first for an awaited request. It is then handled, uncounted. */
    claim: awaited.claim,
    /** Returns whether to handle a parsed message. Refuses or drops it if not. */
    accept: (message: JsonValue, bytes: number): boolean => {
      if (claim(message)) return true
      if (isNotification(message)) return limit.acceptNotification(bytes, changesLists(message))
      return limit.acceptRequest(bytes) || refuse(message)
    },
    /** Counts a message that is handled even over the limit. */
    count: (message: JsonValue, bytes: number): void => {
      if (!claim(message)) limit.count(isNotification(message) ? 'notifications' : 'requests', bytes)
    },
  }
}

export type MessageScreen = ReturnType<typeof createMessageScreen>
