import {
  type JSONRPCMessage,
  parseJSONRPCMessage,
  type StreamableHTTPClientTransport,
} from '@modelcontextprotocol/client'
import { isJsonObject, type JsonObject, type JsonValue } from '../../lib/kernel/json.ts'
import { encodeParamHeaders, type ParamHeader, paramHeadersOf } from '../../lib/kernel/param-headers.ts'
import type { BridgeFault } from './bridge-faults.ts'

type Id = string | number

/** A pending request of the client. */
type Waiting = {
  method: string
  /** Sent under the protocol without sessions, where closing the request's own stream cancels it. */
  isStateless: boolean
  abort: AbortController
}

export type BridgeRequestsOptions = {
  transport: Pick<StreamableHTTPClientTransport, 'send' | 'setProtocolVersion'>
  write: (message: unknown) => void
  explain: (error: unknown) => BridgeFault
  log: (line: string) => void
}

const VERSION_KEY = 'io.modelcontextprotocol/protocolVersion'
const INVALID_REQUEST = -32_600
/** A request of this method gets no response until it ends. */
const LISTEN = 'subscriptions/listen'

const toId = (id?: JsonValue): Id | undefined => (typeof id === 'string' || typeof id === 'number' ? id : undefined)
const paramsOf = ({ params }: JsonObject): JsonObject => (isJsonObject(params) ? params : {})

const isStateless = (message: JsonObject): boolean => {
  const { _meta: meta } = paramsOf(message)
  return isJsonObject(meta) && typeof meta[VERSION_KEY] === 'string'
}

const asMessage = (raw: JsonObject): JSONRPCMessage | undefined => {
  try {
    return parseJSONRPCMessage(raw)
  } catch {
    return undefined
  }
}

/** Tracks pending requests between a stdio client and an HTTP server. */
export const createBridgeRequests = ({ transport, write, explain, log }: BridgeRequestsOptions) => {
  const waiting = new Map<Id, Waiting>()
  const headersOfTools = new Map<string, readonly ParamHeader[]>()
  /** Must settle before the next message is sent. */
  let before: Promise<void> = Promise.resolve()
  let onSettled: (() => void) | undefined
  let isClosed = false

  const isSettled = (): boolean => [...waiting.values()].every(({ method }) => method === LISTEN)

  const finish = (id: Id): Waiting | undefined => {
    const found = waiting.get(id)
    waiting.delete(id)
    if (isSettled()) onSettled?.()
    return found
  }

  const fail = (id: Id, error: unknown): void => {
    if (finish(id) !== undefined && !isClosed) write({ jsonrpc: '2.0', id, error: explain(error) })
  }

  /**
   * Returns the headers that repeat parameters of a tool call, as the stateless protocol requires. The tool list
   * declares which parameters these are.
   */
  const headersOf = (message: JsonObject): Record<string, string> => {
    const { name, arguments: args } = paramsOf(message)
    const declared = typeof name === 'string' && message.method === 'tools/call' ? headersOfTools.get(name) : undefined
    return declared === undefined ? {} : encodeParamHeaders(declared, args)
  }

  const sendRequest = async (message: JSONRPCMessage, raw: JsonObject, id: Id): Promise<void> => {
    const { abort } = waiting.get(id) ?? {}
    if (abort === undefined) return
    try {
      await transport.send(message, {
        requestSignal: abort.signal,
        headers: headersOf(raw),
        // Also called after the response, when the request is no longer pending.
        onRequestStreamEnd: () => fail(id, undefined),
      })
    } catch (error) {
      fail(id, error)
    }
  }

  const sendOther = async (message: JSONRPCMessage): Promise<void> => {
    try {
      await transport.send(message)
    } catch (error) {
      if (!isClosed) log(explain(error).message)
    }
  }

  /**
   * Aborts the stateless request that a message cancels, and returns whether it did. The stateless protocol cancels a
   * request by closing its stream over HTTP, and with a notification over stdio.
   */
  const isCancelled = (message: JsonObject): boolean => {
    if (message.method !== 'notifications/cancelled') return false
    const requestId = toId(paramsOf(message).requestId)
    if (requestId === undefined || !waiting.get(requestId)?.isStateless) return false
    finish(requestId)?.abort.abort()
    return true
  }

  const learn = (tools: JsonValue | undefined): void => {
    for (const tool of Array.isArray(tools) ? tools.filter(isJsonObject) : []) {
      const { name, inputSchema } = tool
      if (typeof name === 'string' && isJsonObject(inputSchema)) headersOfTools.set(name, paramHeadersOf(inputSchema))
    }
  }

  const send = (raw: JsonObject): void => {
    if (isCancelled(raw)) return
    const message = asMessage(raw)
    const id = toId(raw.id)
    if (message === undefined) {
      write({ jsonrpc: '2.0', id: id ?? null, error: { code: INVALID_REQUEST, message: 'Invalid Request' } })
      return
    }
    const { method } = raw
    if (id === undefined || typeof method !== 'string') {
      before = before.then(() => sendOther(message))
      return
    }
    waiting.set(id, { method, isStateless: isStateless(raw), abort: new AbortController() })
    const sent = before.then(() => sendRequest(message, raw, id))
    // The response carries the session id, which later messages need.
    if (method === 'initialize') before = sent
  }

  const receive = (message: unknown): void => {
    if (isClosed || !isJsonObject(message)) return
    const id = toId(message.id)
    const request = id !== undefined && message.method === undefined ? finish(id) : undefined
    const { result } = message
    if (request !== undefined && isJsonObject(result)) {
      if (request.method === 'initialize' && typeof result.protocolVersion === 'string') {
        transport.setProtocolVersion(result.protocolVersion)
      }
      if (request.method === 'tools/list') learn(result.tools)
    }
    write(message)
  }

  return {
    send,
    receive,
    /** Resolves once all requests are complete, except open subscriptions. */
    settled: async (): Promise<void> => {
      await before
      if (isSettled()) return
      await new Promise<void>(resolve => {
        onSettled = resolve
      })
    },
    /** Aborts all pending requests. */
    close: (): void => {
      isClosed = true
      for (const { abort } of waiting.values()) abort.abort()
      waiting.clear()
    },
  }
}
