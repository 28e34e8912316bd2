import type { Socket } from 'node:net'
import { findResponse } from './connections.ts'
import { PROBLEM_MEDIA_TYPE, type Problem } from './problem.ts'

/** Maximum total size of a request's headers. */
export const MAX_HEADER_BYTES = 16 * 1_024

/** Responses to requests that Node cannot parse, by Node's error code (RFC 9110 §15, RFC 6585 §5). */
const REFUSALS: Partial<Record<string, { status: number; title: string; detail: string }>> = {
  HPE_HEADER_OVERFLOW: {
    status: 431,
    title: 'Request Header Fields Too Large',
    detail: `The request headers are larger than ${MAX_HEADER_BYTES} bytes in total. Send fewer or shorter headers.`,
  },
  HPE_CHUNK_EXTENSIONS_OVERFLOW: {
    status: 413,
    title: 'Content Too Large',
    detail: 'A chunk extension in the request body is too large. Send the body without chunk extensions.',
  },
  ERR_HTTP_REQUEST_TIMEOUT: {
    status: 408,
    title: 'Request Timeout',
    detail: 'The request did not arrive completely in time. Send it again.',
  },
}
const BAD_REQUEST = {
  status: 400,
  title: 'Bad Request',
  detail: 'This is not a valid HTTP/1.1 request. Check the request line and the headers.',
}

/**
 * Responds to data that Node could not parse as a request. Sends a problem without a specific type (RFC 9457 §4.2.1)
 * and closes the connection, because it is unknown where the next request starts.
 */
export const respondToUnreadableRequest = (error: Error & { code?: string }, socket: Socket): void => {
  if (error.code === 'ECONNRESET' || socket.destroyed) return
  const refusal = REFUSALS[error.code ?? ''] ?? BAD_REQUEST
  const problem: Problem = { type: 'about:blank', ...refusal }
  const body = JSON.stringify(problem)
  const head = [
    `HTTP/1.1 ${refusal.status} ${refusal.title}`,
    `Content-Type: ${PROBLEM_MEDIA_TYPE}`,
    `Content-Length: ${Buffer.byteLength(body)}`,
    'Connection: close',
  ]
  // Once a response has begun, writing anything else would corrupt it. Node checks the same property.
  const hasBegun = findResponse(socket)?.headersSent === true
  if (socket.writable && !hasBegun) socket.write(`${head.join('\r\n')}\r\n\r\n${body}`)
  socket.destroy(error)
}
