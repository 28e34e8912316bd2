import type { JSONRPCMessage, Transport } from '@modelcontextprotocol/client'
import { UpstreamError } from './upstream-error.ts'

/** Arrays and objects in each other in one message; honest ones have a few dozen. What reads them here recurs. */
const MAX_MESSAGE_DEPTH = 256

/** JSON-RPC 2.0 §5.1. */
const INVALID_REQUEST = -32_600
const INTERNAL_ERROR = -32_603

/** Whether something in it lies deeper than `room`; goes no deeper itself. */
const isDeeperThan = (value: unknown, room: number): boolean => {
  if (typeof value !== 'object' || value === null) return false
  if (room === 0) return true
  const members: unknown[] = Array.isArray(value) ? value : Object.values(value)
  return members.some(member => isDeeperThan(member, room - 1))
}

const tooDeep = (): UpstreamError =>
  new UpstreamError(
    'protocol',
    `The upstream sent JSON that is nested more than ${MAX_MESSAGE_DEPTH} deep; have it send less at once.`,
  )

/**
 * Lets no message through that is nested too deeply: to write it as JSON again would exhaust the stack, wherever that
 * is done. An answer becomes an error, with an UpstreamError as its data, which no upstream can make; a request is
 * refused, and all else is dropped. To be called before anything listens.
 */
export const boundDepth = (transport: Transport): void => {
  type Listener = NonNullable<Transport['onmessage']>
  let listener: Listener | undefined
  /** Listeners call those that listened before them: each message is looked at once. */
  let sound: JSONRPCMessage | undefined

  const refuse = (message: JSONRPCMessage): void => {
    if (!('id' in message) || message.id === undefined) return
    const { id } = message
    if (!('method' in message)) {
      const data = tooDeep()
      listener?.({ jsonrpc: '2.0', id, error: { code: INTERNAL_ERROR, message: data.message, data } })
      return
    }
    const error = { code: INVALID_REQUEST, message: `Invalid Request: nested more than ${MAX_MESSAGE_DEPTH} deep` }
    transport.send({ jsonrpc: '2.0', id, error }).catch(() => {})
  }
  const guard =
    (heard: Listener): Listener =>
    (message, extra) => {
      if (message !== sound && isDeeperThan(message, MAX_MESSAGE_DEPTH)) {
        refuse(message)
        return
      }
      sound = message
      heard(message, extra)
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
