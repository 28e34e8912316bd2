import { request } from 'node:http'
import { setImmediate } from 'node:timers/promises'
import type { FastifyReply } from 'fastify'
import { describe, expect, it, vi } from 'vitest'
import { sendNdjson } from '../../../src/lib/http/ndjson.ts'
import { buildHttpApp } from '../../support/http-app.ts'

const LINE = 'x'.repeat(100_000)

/** Starts an app with one file of `total` batches. Records how many were requested and whether the end was reached. */
const serveFile = async (total: number) => {
  const ended = Promise.withResolvers<void>()
  const seen: { given: number; reply: FastifyReply | undefined } = { given: 0, reply: undefined }
  async function* batches() {
    try {
      for (; seen.given < total; seen.given++) {
        // Yields to the event loop, as a database query does. Without this, an endless file would block everything
        // else.
        await setImmediate()
        yield [{ line: LINE }]
      }
    } finally {
      ended.resolve()
    }
  }
  const { app } = await buildHttpApp({
    routes: async api => {
      api.get('/file', { config: { access: 'anyone' } }, async (_request, reply) => {
        seen.reply = reply
        return sendNdjson(reply, 'lines.ndjson', batches())
      })
    },
  })
  const origin = await app.listen({ host: '127.0.0.1', port: 0 })
  return { url: `${origin}/api/v1/file`, seen, ended: ended.promise }
}

describe('a file of lines', () => {
  it('is not read further after the client has disconnected', async () => {
    const { url, seen, ended } = await serveFile(Number.POSITIVE_INFINITY)
    const asking = request(url, response => response.once('data', () => asking.destroy()))
    asking.once('error', () => undefined)
    asking.end()
    await ended
    expect(seen.given).toBeGreaterThan(0)
  })

  it('waits for a slow reader, and arrives complete', async () => {
    const total = 1_000
    const { url, seen } = await serveFile(total)
    const { promise, resolve, reject } = Promise.withResolvers<number>()
    const asking = request(url, response => {
      response.pause()
      let bytes = 0
      const readOn = () => {
        response.on('data', (chunk: Buffer) => {
          bytes += chunk.length
        })
        response.once('end', () => resolve(bytes))
        response.resume()
      }
      vi.waitFor(() => expect(seen.reply?.raw.writableNeedDrain).toBe(true), { timeout: 10_000 }).then(() => {
        // Only as many batches were requested as fit into the socket buffers.
        expect(seen.given).toBeLessThan(total / 4)
        readOn()
      }, reject)
    })
    asking.once('error', reject)
    asking.end()
    expect(await promise).toBe(total * `${JSON.stringify({ line: LINE })}\n`.length)
  })

  it('is not read for HEAD', async () => {
    const { url, seen } = await serveFile(3)
    const response = await fetch(url, { method: 'HEAD' })
    expect([response.status, response.headers.get('content-type')]).toEqual([
      200,
      'application/x-ndjson; charset=utf-8',
    ])
    expect(seen.given).toBe(0)
  })
})
