import type { JSONRPCMessage, RequestId, Transport } from '@modelcontextprotocol/client'
import type { AwaitedRequests } from './message-screen.ts'
import { UpstreamError } from './upstream-error.ts'

/** JSON-RPC 2.0 §5.1. */
const INVALID_REQUEST = -32_600
const INTERNAL_ERROR = -32_603

const streamEnded = (): UpstreamError =>
  new UpstreamError('protocol', 'The MCP server closed the stream before it responded. Try again.')

/** Returns the id of the request that a notification cancels, or undefined for any other message. */
export const findCancelledId = (message: JSONRPCMessage): RequestId | undefined => {
  if (!('method' in message) || message.method !== 'notifications/cancelled') return undefined
  const id = message.params?.requestId
  return typeof id === 'string' || typeof id === 'number' ? id : undefined
}

/**
 * Ends Streamable HTTP requests that the SDK would otherwise leave open until they time out. If a request's stream ends
 * without a response, the request gets an error whose data is an UpstreamError, which no upstream can produce. In the
 * session era, a canceled request is aborted. Call it before the client connects, because the client keeps existing
 * listeners. `takeFault` returns the error that broke the last stream.
 */
export const watchRequests = (transport: Transport, takeFault: () => UpstreamError | undefined): void => {
  const open = new Map<RequestId, AbortController | undefined>()
  const send = transport.send.bind(transport)
  transport.onmessage = message => {
    if (!('method' in message) && message.id !== undefined) open.delete(message.id)
  }

  transport.send = async (message, options) => {
    if (!('method' in message)) return send(message, options)
    if (!('id' in message)) {
      await send(message, options)
      const cancelled = findCancelledId(message)
      if (cancelled !== undefined) open.get(cancelled)?.abort()
      return
    }
    const { id } = message
    const stop = options?.requestSignal === undefined ? new AbortController() : undefined
    open.set(id, stop)
    const onRequestStreamEnd = (): void => {
      options?.onRequestStreamEnd?.()
      if (!open.delete(id) || options?.onRequestStreamEnd !== undefined) return
      const error = {
        code: INTERNAL_ERROR,
        message: 'the stream ended before the response',
        data: takeFault() ?? streamEnded(),
      }
      transport.onmessage?.({ jsonrpc: '2.0', id, error })
    }
    try {
      await send(message, { ...options, requestSignal: options?.requestSignal ?? stop?.signal, onRequestStreamEnd })
    } catch (error) {
      open.delete(id)
      throw error
    }
  }
}

/**
 * Maximum nesting depth of a message, because Patchbay reads messages recursively. Ordinary messages have a few dozen
 * levels.
 */
const MAX_MESSAGE_DEPTH = 256

const isDeeperThan = (value: unknown, room: number): boolean => {
  if (typeof value !== 'object' || value === null) return false
  if (room === 0) return true
  const members: unknown[] = Array.isArray(value) ? value : Object.values(value)
  return members.some(member => isDeeperThan(member, room - 1))
}

const tooDeep = (): UpstreamError =>
  new UpstreamError('protocol', `The MCP server sent JSON that is nested more than ${MAX_MESSAGE_DEPTH} levels deep.`)

/** Records which requests have no response yet. Call it before anything is sent. */
const trackRequests = (transport: Transport, awaited: AwaitedRequests): void => {
  const send = transport.send.bind(transport)
  transport.send = async (message, options) => {
    if (!('method' in message) || !('id' in message)) {
      const cancelled = findCancelledId(message)
      if (cancelled !== undefined) awaited.settle(cancelled)
      return send(message, options)
    }
    const { id } = message
    awaited.add(id)
    options?.requestSignal?.addEventListener('abort', () => awaited.settle(id), { once: true })
    try {
      await send(message, options)
    } catch (error) {
      awaited.settle(id)
      throw error
    }
  }
}

/**
 * Records which requests have no response yet, and stops messages that are nested so deeply that serializing them again
 * would exhaust the stack. A response becomes an error whose data is an UpstreamError, which no upstream can produce. A
 * request is rejected, and a notification is dropped. Call it before adding any listener.
 */
export const guardMessages = (transport: Transport, awaited: AwaitedRequests): void => {
  trackRequests(transport, awaited)
  type Listener = NonNullable<Transport['onmessage']>
  let listener: Listener | undefined
  /** The last message that was checked. Listeners call earlier listeners, which must not check the message again. */
  let checked: JSONRPCMessage | undefined

  const reject = (message: JSONRPCMessage): void => {
    if (!('id' in message) || message.id === undefined) return
    const { id } = message
    if (!('method' in message)) {
      const data = tooDeep()
      listener?.({ jsonrpc: '2.0', id, error: { code: INTERNAL_ERROR, message: data.message, data } })
      return
    }
    const error = {
      code: INVALID_REQUEST,
      message: `Invalid Request: nested more than ${MAX_MESSAGE_DEPTH} levels deep`,
    }
    transport.send({ jsonrpc: '2.0', id, error }).catch(() => {})
  }
  const guard =
    (next: Listener): Listener =>
    (message, extra) => {
      if (message !== checked) {
        if (!('method' in message) && message.id !== undefined) awaited.settle(message.id)
        if (isDeeperThan(message, MAX_MESSAGE_DEPTH)) {
          reject(message)
          return
        }
      }
      checked = message
      next(message, extra)
    }

  Object.defineProperty(transport, 'onmessage', {
    configurable: true,
    enumerable: true,
    get: () => listener,
    set: (given: Listener | undefined) => {
      listener = given && guard(given)
    },
  })
}
