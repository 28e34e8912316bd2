import { PassThrough, type Readable } from 'node:stream'
import type { ForwardedRequest } from './forwarded-request.ts'

/** Bodies up to this size are sent in one piece, which costs a third as much as streaming them. */
const MAX_WHOLE_BYTES = 64 * 1_024

type Taking = {
  maxBytes: number
  /** Called at most once, and only for a body without a declared length. */
  onTooLong: () => void
}

const takeWhole = ({ http, passage }: ForwardedRequest, next: (body: Buffer) => void): void => {
  const chunks: Buffer[] = []
  http.incoming.on('data', (chunk: Buffer) => {
    chunks.push(chunk)
    passage.requestBytes += chunk.length
  })
  http.incoming.on('end', () => next(chunks.length === 1 && chunks[0] ? chunks[0] : Buffer.concat(chunks)))
}

const takeStream = ({ http, passage }: ForwardedRequest, { maxBytes, onTooLong }: Taking): Readable => {
  const { incoming } = http
  // Pipes the body through another stream, because an error on the outgoing side would otherwise close the client's
  // connection, which is still needed for the response.
  const outgoing = new PassThrough()
  const count = (chunk: Buffer): void => {
    passage.requestBytes += chunk.length
    if (passage.requestBytes <= maxBytes) return
    incoming.off('data', count)
    incoming.unpipe(outgoing)
    // Keeps reading, because clients may not read the response until they have sent everything.
    incoming.resume()
    onTooLong()
  }
  incoming.on('data', count)
  return incoming.pipe(outgoing)
}

/** Calls `next` when the body can be sent: with a buffer, a stream, or undefined if there is no body. */
export const takeBody = (
  forwarded: ForwardedRequest,
  taking: Taking,
  next: (body: Buffer | Readable | undefined) => void,
): void => {
  const { 'content-length': length, 'transfer-encoding': coding } = forwarded.http.incoming.headers
  if (length === undefined && coding === undefined) next(undefined)
  else if (Number(length) <= MAX_WHOLE_BYTES) takeWhole(forwarded, next)
  else next(takeStream(forwarded, taking))
}
