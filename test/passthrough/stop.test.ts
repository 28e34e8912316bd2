import { once } from 'node:events'
import { createServer, type IncomingMessage, request as requestHttp, type ServerResponse } from 'node:http'
import { describe, expect, it, onTestFinished } from 'vitest'
import { WebSocket, WebSocketServer } from 'ws'
import { z } from 'zod'
import { createDrain } from '../../src/lib/http/drain.ts'
import { signUp } from '../support/api-client.ts'
import { startTestApp } from '../support/app.ts'
import { listen, passTo, until } from './support.ts'

describe('a passthrough server of a Patchbay that is stopping', () => {
  it('ends its streams and completes running requests', async () => {
    const app = await startTestApp()
    const drain = createDrain(app.app.http.server)
    const held: ServerResponse[] = []
    const http = createServer((request, response) => {
      held.push(response)
      request.resume()
      if (request.method === 'GET') response.writeHead(200, { 'content-type': 'text/event-stream' }).flushHeaders()
    })
    const sockets = new WebSocketServer({ server: http })
    onTestFinished(() => {
      for (const socket of sockets.clients) socket.terminate()
      sockets.close()
    })
    const { port } = await listen(http)
    const api = await signUp(app.origin)
    const server = await passTo(api, `http://127.0.0.1:${port}/mcp`)

    const streaming = requestHttp(server.url, { agent: false }).end()
    const [stream]: IncomingMessage[] = await once(streaming, 'response')
    stream?.resume()
    const socket = new WebSocket(server.url.replace('http', 'ws'))
    socket.on('error', () => {})
    await once(socket, 'open')
    const asked = fetch(server.url, { method: 'POST', body: '{}' })
    await until(() => expect(held).toHaveLength(2))

    const ended = Promise.all([once(stream ?? streaming, 'close'), once(socket, 'close')])
    app.app.beginStop()
    const closed = drain(() => app.app.http.close(), 10_000)
    await ended
    expect(stream?.complete).toBe(true)
    const later = await fetch(server.url, { method: 'GET' }).catch(() => undefined)
    expect(later?.status ?? 503).toBe(503)
    held[1]?.end('the answer')
    expect(await (await asked).text()).toBe('the answer')
    await closed
    await app.close()
  })

  it('sends what it has of a response that it cuts off, which then looks incomplete, and records why', async () => {
    const app = await startTestApp()
    onTestFinished(app.close)
    const drain = createDrain(app.app.http.server)
    const http = createServer((request, response) => {
      request.resume()
      response.writeHead(200, { 'content-type': 'application/json' }).write('{"begun":')
    })
    const { port } = await listen(http)
    const api = await signUp(app.origin)
    const { url } = await passTo(api, `http://127.0.0.1:${port}/mcp`)
    const asking = requestHttp(url, { method: 'POST', agent: false }).end('{}')
    const [response]: IncomingMessage[] = await once(asking, 'response')
    let received = ''
    response?.on('data', chunk => {
      received += chunk
    })
    const ended = new Promise(resolve => response?.on('error', () => {}).once('close', resolve))
    await until(() => expect(received).toBe('{"begun":'))
    app.app.beginStop()
    await drain(() => app.app.http.close(), 100)
    await ended
    expect(response?.complete).toBe(false)
    const errors = async () => {
      await app.services.recorder.flush()
      return (await app.services.db.execution.findMany()).map(({ error }) => error)
    }
    await expect.poll(errors).toEqual([expect.stringMatching(/^Patchbay is shutting down/)])
  })

  it('sends a JSON-RPC error for a request that it cuts off', async () => {
    const app = await startTestApp()
    const drain = createDrain(app.app.http.server)
    const http = createServer(request => request.resume())
    const asked = once(http, 'request')
    const { port } = await listen(http)
    const server = await passTo(await signUp(app.origin), `http://127.0.0.1:${port}/mcp`)
    const answer = fetch(server.url, { method: 'POST', body: '{}' })
    const [request]: IncomingMessage[] = await asked
    app.app.beginStop()
    await drain(() => app.app.http.close(), 100)
    const { status, ...body } = await answer.then(async response => ({
      status: response.status,
      ...z.looseObject({ jsonrpc: z.literal('2.0') }).parse(await response.json()),
    }))
    const error = { code: -32_000, message: expect.stringMatching(/^Patchbay is shutting down/) }
    expect([status, body]).toEqual([503, { jsonrpc: '2.0', id: null, error }])
    await until(() => expect(request?.destroyed).toBe(true))
    await app.close()
  })
})
