import { PassThrough, type Readable } from 'node:stream'
import type { RequestPassing } from './passing.ts'

/** A body up to this length goes on when it is here as a whole, which costs a third of passing on a stream. */
const MAX_WHOLE_BYTES = 64 * 1_024

type Taking = {
  maxBytes: number
  /** Called once, for a body that did not say how long it is. */
  onTooLong: () => void
}

const takeWhole = ({ exchange, passage }: RequestPassing, next: (body: Buffer) => void): void => {
  const chunks: Buffer[] = []
  exchange.incoming.on('data', (chunk: Buffer) => {
    chunks.push(chunk)
    passage.requestBytes += chunk.length
  })
  exchange.incoming.on('end', () => next(chunks.length === 1 && chunks[0] ? chunks[0] : Buffer.concat(chunks)))
}

const takeStream = ({ exchange, passage }: RequestPassing, { maxBytes, onTooLong }: Taking): Readable => {
  const { incoming } = exchange
  // Between the two ends: whoever breaks off what goes out would end the client's connection, which gets an answer.
  const outgoing = new PassThrough()
  const count = (chunk: Buffer): void => {
    passage.requestBytes += chunk.length
    if (passage.requestBytes <= maxBytes) return
    incoming.off('data', count)
    incoming.unpipe(outgoing)
    // Read on, for an answer arrives where somebody listens.
    incoming.resume()
    onTooLong()
  }
  incoming.on('data', count)
  return incoming.pipe(outgoing)
}

/** Hands on a request's body once it can be sent: whole, as a stream, or undefined where there is none. */
export const takeBody = (
  passing: RequestPassing,
  taking: Taking,
  next: (body: Buffer | Readable | undefined) => void,
): void => {
  const { 'content-length': length, 'transfer-encoding': coding } = passing.exchange.incoming.headers
  if (length === undefined && coding === undefined) next(undefined)
  else if (Number(length) <= MAX_WHOLE_BYTES) takeWhole(passing, next)
  else next(takeStream(passing, taking))
}
