import { ReadStream } from 'node:fs'
import { buffer } from 'node:stream/consumers'
import { promisify } from 'node:util'
import { brotliCompress } from 'node:zlib'
import type { FastifyInstance } from 'fastify'

const compress = promisify(brotliCompress)

const COMPRESSIBLE = /^(?:text\/|application\/javascript|image\/svg)/
/** Browsers list the encodings without weights. Others get what @fastify/compress offers. */
const ACCEPTS_BROTLI = /(?:^|,)\s*br\s*(?:,|$)/
/** Far more than there are files. Files that are edited during development have many versions. */
const MAX_KEPT = 200

/** Ends a stream that may not have opened its file yet. Without a listener, a failure to open it ends the process. */
const discard = (stream: ReadStream): void => {
  stream.on('error', () => {})
  stream.destroy()
}

/**
 * Compresses the files that this scope serves with Brotli (RFC 7932) in its best quality, which takes longer than to
 * send them: each version of a file is compressed once and kept in memory.
 */
export const compressOnce = (app: FastifyInstance): void => {
  const kept = new Map<string, Promise<Buffer>>()
  app.addHook('onSend', async (request, reply, payload) => {
    const isWhole = request.method === 'GET' && reply.statusCode === 200 && payload instanceof ReadStream
    const type = String(reply.getHeader('content-type'))
    const accepted = request.headers['accept-encoding']?.toString() ?? ''
    if (!isWhole || !COMPRESSIBLE.test(type) || !ACCEPTS_BROTLI.test(accepted)) return payload
    // The URL would let anybody have a file compressed again and again, because a path can be spelled in many ways.
    const version = `${payload.path} ${reply.getHeader('etag')}`
    const found = kept.get(version)
    if (kept.size === MAX_KEPT) kept.clear()
    if (found !== undefined) discard(payload)
    const compressed = found ?? buffer(payload).then(whole => compress(whole))
    kept.set(version, compressed)
    compressed.catch(() => kept.delete(version))
    const body = await compressed
    reply.header('content-encoding', 'br').header('content-length', body.length).header('vary', 'accept-encoding')
    return body
  })
}
