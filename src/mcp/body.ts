import { isUtf8 } from 'node:buffer'
import { type JsonValue, parseJson } from '../lib/kernel/json.ts'
import { failure, type Result, success } from '../lib/kernel/result.ts'
import { isJsonContent } from './headers.ts'
import { type HttpExchange, type ReportFault, writeFault, writeRefusal } from './http-exchange.ts'
import { ERROR } from './protocol.ts'
import { type Refusal, refusal } from './rpc-response.ts'

export type BodyLimits = {
  /** PATCHBAY_MAX_REQUEST_BYTES */
  maxRequestBytes: number
  /** PATCHBAY_MAX_JSON_DEPTH, counted from the arguments of a call. */
  maxJsonDepth: number
}

/** Nesting levels around the arguments of a call: the message and its params. */
const ENVELOPE_DEPTH = 2
/**
 * A body over the limit is still read to its end, because many clients do not read the response before that. The
 * connection is closed at this multiple of the limit.
 */
const MAX_DISCARDED_LIMITS = 8

export const tooLarge = (maxBytes: number): Refusal =>
  refusal(413, ERROR.transport, `The request body is over ${maxBytes} bytes (PATCHBAY_MAX_REQUEST_BYTES)`)

const checkMedia = ({ headers }: HttpExchange): Refusal | undefined => {
  if (!isJsonContent(headers)) {
    return refusal(415, ERROR.transport, 'Unsupported media type: Content-Type must be application/json')
  }
  const encoding = headers['content-encoding']
  if (encoding === undefined || encoding === 'identity') return undefined
  return refusal(415, ERROR.transport, `Unsupported Content-Encoding: ${encoding}`)
}

/** Reads the body and passes its bytes to `next`. Writes the refusal if the body is not acceptable. */
export const readBody = (
  http: HttpExchange,
  maxBytes: number,
  next: (bytes: Buffer) => void,
  report: ReportFault,
): void => {
  const unsupported = checkMedia(http)
  if (unsupported !== undefined) {
    writeRefusal(http, unsupported)
    return
  }
  const { incoming, raw } = http
  let first: Buffer | undefined
  let more: Buffer[] | undefined
  let size = 0
  const refuseSize = (): void => writeRefusal(http, tooLarge(maxBytes))
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
      writeFault(http, error, report)
    }
  })
}

/** Parses the body as JSON, within the depth limit and without `__proto__`. */
export const parseBody = (bytes: Buffer, { maxJsonDepth }: BodyLimits): Result<JsonValue, Refusal> => {
  if (!isUtf8(bytes)) return failure(refusal(400, ERROR.parse, 'Parse error: the body is not UTF-8'))
  const parsed = parseJson(bytes.toString(), maxJsonDepth + ENVELOPE_DEPTH)
  if (parsed.ok) return success(parsed.value)
  const { reason, message } = parsed.error
  if (reason === 'syntax') return failure(refusal(400, ERROR.parse, `Parse error: ${message}`))
  const why = reason === 'depth' ? `nested more than ${maxJsonDepth} levels deep (PATCHBAY_MAX_JSON_DEPTH)` : message
  return failure(refusal(400, ERROR.invalidRequest, `Invalid request: ${why}`))
}
