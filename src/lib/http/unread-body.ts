import type { IncomingMessage } from 'node:http'
import { finished } from 'node:stream'
import type { FastifyInstance } from 'fastify'

/** How many times the most that is taken is read of a body before its sender is cut off. */
const MAX_DISCARDED_LIMITS = 8

const discard = (body: IncomingMessage, maxBytes: number): Promise<void> =>
  new Promise(resolve => {
    let size = 0
    body.on('data', (chunk: Buffer) => {
      size += chunk.length
      if (size > maxBytes) resolve()
    })
    finished(body, () => resolve())
    body.resume()
  })

/**
 * Reads a body that is too large to its end before it is answered, but not for ever: an answer whose connection is
 * closed while the client still writes is lost with it (RFC 9112 §9.6).
 */
export const answerAfterLargeBodies = (app: FastifyInstance, maxRequestBytes: number): void => {
  app.addHook('onSend', async ({ raw }, { statusCode }) => {
    if (statusCode === 413) await discard(raw, maxRequestBytes * MAX_DISCARDED_LIMITS)
  })
}
