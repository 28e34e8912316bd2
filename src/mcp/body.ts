import { isUtf8 } from 'node:buffer'
import { failure, type JsonValue, parseJson, type Result, success } from '../kernel/index.ts'
import { type Refusal, refusal } from './answer.ts'
import type { ReportFault } from './dispatcher.ts'
import { type Exchange, writeRefusal } from './exchange.ts'
import { isJsonContent } from './headers.ts'
import { ERROR } from './protocol.ts'

export type BodyLimits = {
  /** PATCHBAY_MAX_REQUEST_BYTES */
  maxRequestBytes: number
  /** PATCHBAY_MAX_JSON_DEPTH, of a call's arguments. */
  maxJsonDepth: number
}

/** Around a call's arguments there are the message and its params. */
const ENVELOPE_DEPTH = 2
/** A body that is too large is read to its end before it is answered, so that the answer arrives, but not for ever. */
const MAX_DISCARDED_LIMITS = 8

const tooLarge = (maxBytes: number): Refusal =>
  refusal(413, ERROR.transport, `The request body is over ${maxBytes} bytes (PATCHBAY_MAX_REQUEST_BYTES)`)

const refuseMedia = (exchange: Exchange): boolean => {
  const { headers } = exchange
  const encoding = headers['content-encoding']
  if (!isJsonContent(headers)) {
    writeRefusal(exchange, refusal(415, ERROR.transport, 'Unsupported media type: Content-Type is application/json'))
    return true
  }
  if (encoding !== undefined && encoding !== 'identity') {
    writeRefusal(exchange, refusal(415, ERROR.transport, `Unsupported Content-Encoding: ${encoding}`))
    return true
  }
  return false
}

/** Reads the body and hands on its bytes; what is wrong with it is answered here. */
export const readBody = (
  exchange: Exchange,
  maxBytes: number,
  next: (bytes: Buffer) => void,
  report: ReportFault,
): void => {
  if (refuseMedia(exchange)) return
  const { incoming, raw } = exchange
  let first: Buffer | undefined
  let more: Buffer[] | undefined
  let size = 0
  const refuseSize = (): void => writeRefusal(exchange, tooLarge(maxBytes))
  const cutOff = (): void => {
    if (raw.headersSent) return
    refuseSize()
    incoming.socket.destroySoon()
  }
  incoming.on('data', (chunk: Buffer) => {
    size += chunk.length
    if (size > maxBytes * MAX_DISCARDED_LIMITS) cutOff()
    else if (size > maxBytes) first = more = undefined
    else if (first === undefined) first = chunk
    else if (more === undefined) more = [first, chunk]
    else more.push(chunk)
  })
  incoming.on('end', () => {
    if (raw.headersSent) return
    if (size > maxBytes) return refuseSize()
    try {
      next(more === undefined ? (first ?? Buffer.alloc(0)) : Buffer.concat(more, size))
    } catch (error) {
      // Out of an event's listener it would end the process, and every other call with it.
      report(error, 'a request failed for a reason nobody thought of')
      if (!raw.headersSent) writeRefusal(exchange, refusal(500, ERROR.internal, 'Internal error'))
    }
  })
}

/** The body as JSON that is safe to look at: nested within the limit, without `__proto__`. */
export const parseBody = (bytes: Buffer, { maxJsonDepth }: BodyLimits): Result<JsonValue, Refusal> => {
  if (!isUtf8(bytes)) return failure(refusal(400, ERROR.parse, 'Parse error: the body is not UTF-8'))
  const parsed = parseJson(bytes.toString(), maxJsonDepth + ENVELOPE_DEPTH)
  if (parsed.ok) return success(parsed.value)
  const { reason, message } = parsed.error
  if (reason === 'syntax') return failure(refusal(400, ERROR.parse, `Parse error: ${message}`))
  const why = reason === 'depth' ? `nested more than ${maxJsonDepth} deep (PATCHBAY_MAX_JSON_DEPTH)` : message
  return failure(refusal(400, ERROR.invalidRequest, `Invalid request: ${why}`))
}
