import { request } from 'node:http'
import { setImmediate } from 'node:timers/promises'
import type { FastifyReply } from 'fastify'
import { describe, expect, it, vi } from 'vitest'
import { sendNdjson } from '../../../src/lib/http/ndjson.ts'
import { buildHttpApp } from '../../support/http-app.ts'

const LINE = 'x'.repeat(100_000)

/** A listening app with one file of `total` batches. What was asked of it and whether it came to its end is kept. */
const serveFile = async (total: number) => {
  const ended = Promise.withResolvers<void>()
  const seen: { given: number; reply: FastifyReply | undefined } = { given: 0, reply: undefined }
  async function* batches() {
    try {
      for (; seen.given < total; seen.given++) {
        // A database takes a turn of the loop, too: an endless file without one lets nothing else happen.
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
  it('is read no further when whoever asked for it is gone', async () => {
    const { url, seen, ended } = await serveFile(Number.POSITIVE_INFINITY)
    const asking = request(url, response => response.once('data', () => asking.destroy()))
    asking.once('error', () => undefined)
    asking.end()
    await ended
    expect(seen.given).toBeGreaterThan(0)
  })

  it('waits for a reader that is slow, and is whole in the end', async () => {
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
        // What the sockets hold, and no more.
        expect(seen.given).toBeLessThan(total / 4)
        readOn()
      }, reject)
    })
    asking.once('error', reject)
    asking.end()
    expect(await promise).toBe(total * `${JSON.stringify({ line: LINE })}\n`.length)
  })

  it('is not read at all for a HEAD', async () => {
    const { url, seen } = await serveFile(3)
    const response = await fetch(url, { method: 'HEAD' })
    expect([response.status, response.headers.get('content-type')]).toEqual([
      200,
      'application/x-ndjson; charset=utf-8',
    ])
    expect(seen.given).toBe(0)
  })
})
