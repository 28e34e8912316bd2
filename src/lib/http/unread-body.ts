import type { IncomingMessage } from 'node:http'
import { finished } from 'node:stream'
import type { FastifyInstance } from 'fastify'

/** Maximum amount of an oversized body to read and discard, as a multiple of the body size limit. */
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
 * Reads and discards an oversized body, up to a maximum, before the 413 response is sent. If the connection closed
 * while the client was still writing, the client might not receive the response (RFC 9112 §9.6).
 */
export const respondAfterLargeBodies = (app: FastifyInstance, maxRequestBytes: number): void => {
  app.addHook('onSend', async ({ raw }, { statusCode }) => {
    if (statusCode === 413) await discard(raw, maxRequestBytes * MAX_DISCARDED_LIMITS)
  })
}
