import type { IncomingMessage } from 'node:http'
import { finished } from 'node:stream'
import type { FastifyInstance } from 'fastify'

/** How much of an oversized body is read before the connection is closed, as a multiple of the limit. */
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
 * Reads an oversized body before the 413 is sent, up to a bound: if the connection closed while the client still
 * writes, the client might never see the response (RFC 9112 §9.6).
 */
export const respondAfterLargeBodies = (app: FastifyInstance, maxRequestBytes: number): void => {
  app.addHook('onSend', async ({ raw }, { statusCode }) => {
    if (statusCode === 413) await discard(raw, maxRequestBytes * MAX_DISCARDED_LIMITS)
  })
}
