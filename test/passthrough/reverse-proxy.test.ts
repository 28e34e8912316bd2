import { createServer } from 'node:net'
import { Writable } from 'node:stream'
import { expect, it, onTestFinished } from 'vitest'
import { createAddressPolicy } from '../../src/lib/outbound/address-policy.ts'
import { operatorLookup } from '../../src/lib/outbound/name-resolver.ts'
import { createReverseProxy } from '../../src/passthrough/proxy/reverse-proxy.ts'
import { listen } from '../lib/outbound/apis.ts'

it('a complete response is not reported as cut off if its connection closes while the reader is paused', async () => {
  const closed = Promise.withResolvers<void>()
  const server = createServer(socket =>
    socket
      .once('data', () => socket.end('HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhello'))
      .once('close', closed.resolve),
  )
  const { port } = await listen(server)
  const policy = createAddressPolicy({ allow: ['127.0.0.0/8'] })
  const proxy = createReverseProxy({ policy, connectTimeoutMs: 1_000, lookup: operatorLookup() })
  onTestFinished(() => proxy.close())
  const url = new URL(`http://127.0.0.1:${port}/`)
  const outcome = await new Promise<string>(resolve => {
    let read = ''
    const to = new Writable({
      highWaterMark: 1,
      write: (chunk, _, done) => {
        read += chunk
        void closed.promise.then(() => setImmediate(done))
      },
      final: done => {
        done()
        resolve(`whole: ${read}`)
      },
    })
    proxy.pass({
      organizationId: undefined,
      url,
      method: 'GET',
      path: '/',
      headers: { host: url.host },
      body: undefined,
      headTimeoutMs: 1_000,
      onHead: () => to,
      onBytes: () => undefined,
      onBroken: error => resolve(error.message),
      onFault: ({ error }) => resolve(error.message),
    })
  })
  expect(outcome).toBe('whole: hello')
})
