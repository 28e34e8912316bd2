import type { RequestId, Transport } from '@modelcontextprotocol/client'
import { UpstreamError } from './upstream-error.ts'

const streamEnded = (): UpstreamError =>
  new UpstreamError('protocol', 'The upstream closed the stream before it had answered; try again.')

/** Internal error of JSON-RPC 2.0. */
const INTERNAL_ERROR = -32_603

/**
 * Makes requests over Streamable HTTP end when they should. The SDK leaves two of them to their timeout: one whose stream
 * ends without an answer gets an error here, and one that was cancelled in the older era has its request cut off.
 * Call before the client is connected: it keeps what listens already. `takeFault` tells what broke off the stream that
 * has just ended. The error has an UpstreamError as its data, which no upstream can make.
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
        message: 'the stream ended before the answer',
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
