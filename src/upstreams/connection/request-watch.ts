import type { RequestId, Transport } from '@modelcontextprotocol/client'
import { UpstreamError } from './upstream-error.ts'

const streamEnded = (): UpstreamError =>
  new UpstreamError('protocol', 'The upstream closed the stream before it responded. Try again.')

/** JSON-RPC 2.0. */
const INTERNAL_ERROR = -32_603

/**
 * Ends requests over Streamable HTTP that the SDK would leave to their timeout: one whose stream ended without a
 * response gets an error, and a cancelled one in the older era is aborted. Call it before the client connects, since it
 * keeps existing listeners. `takeFault` returns what broke the last stream. The error's data is an UpstreamError, which
 * no upstream can produce.
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
      const cancelled = message.method === 'notifications/cancelled' ? message.params?.requestId : undefined
      if (typeof cancelled === 'string' || typeof cancelled === 'number') open.get(cancelled)?.abort()
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
