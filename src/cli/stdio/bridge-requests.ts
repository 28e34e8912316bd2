import {
  type JSONRPCMessage,
  parseJSONRPCMessage,
  type StreamableHTTPClientTransport,
} from '@modelcontextprotocol/client'
import {
  encodeParamHeaders,
  isJsonObject,
  type JsonObject,
  type JsonValue,
  type ParamHeader,
  paramHeadersOf,
} from '../kernel/index.ts'
import type { BridgeFault } from './bridge-faults.ts'

type Id = string | number

/** A request of the client that waits for its answer. */
type Waiting = {
  method: string
  /** Of the era without sessions, where closing the request's own stream is what cancels it. */
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
/** Never answered but at its end. */
const LISTEN = 'subscriptions/listen'

const idOf = ({ id }: JsonObject): Id | undefined => (typeof id === 'string' || typeof id === 'number' ? id : undefined)
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

/** Keeps account of the requests under way between a client over stdio and a server over HTTP. */
export const createBridgeRequests = ({ transport, write, explain, log }: BridgeRequestsOptions) => {
  const waiting = new Map<Id, Waiting>()
  const headersOfTools = new Map<string, readonly ParamHeader[]>()
  /** What must have arrived before what comes after it is sent. */
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

  /** Parameters that the newest era repeats in headers; which these are, the list of tools has said. */
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
        // After its answer as well; then nobody waits any more.
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

  /** In the newest era the end of a request's stream cancels it; over stdio a notification does. */
  const isCancelled = (message: JsonObject): boolean => {
    if (message.method !== 'notifications/cancelled') return false
    const { requestId } = paramsOf(message)
    if (typeof requestId !== 'string' && typeof requestId !== 'number') return false
    const found = waiting.get(requestId)
    if (found === undefined || !found.isStateless) return false
    finish(requestId)
    found.abort.abort()
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
    const id = idOf(raw)
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
    // The id of the session comes with its answer.
    if (method === 'initialize') before = sent
  }

  const receive = (message: unknown): void => {
    if (isClosed || !isJsonObject(message)) return
    const id = idOf(message)
    const answered = id !== undefined && message.method === undefined ? finish(id) : undefined
    const { result } = message
    if (answered !== undefined && isJsonObject(result)) {
      if (answered.method === 'initialize' && typeof result.protocolVersion === 'string') {
        transport.setProtocolVersion(result.protocolVersion)
      }
      if (answered.method === 'tools/list') learn(result.tools)
    }
    write(message)
  }

  return {
    send,
    receive,
    /** Resolves once all have their answer that will have one. */
    settled: async (): Promise<void> => {
      await before
      if (isSettled()) return
      await new Promise<void>(resolve => {
        onSettled = resolve
      })
    },
    /** Lets go of those that still wait. */
    close: (): void => {
      isClosed = true
      for (const { abort } of waiting.values()) abort.abort()
      waiting.clear()
    },
  }
}
