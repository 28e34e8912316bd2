import { once } from 'node:events'
import { createServer, type IncomingMessage } from 'node:http'
import { describe, expect, it, onTestFinished } from 'vitest'
import { WebSocket, WebSocketServer } from 'ws'
import { runPatchbay, runUser } from '../support/world.ts'
import { historyOf, listen, passTo, sendRaw, startUpstream, until } from './support.ts'

describe('a WebSocket through a passthrough server', () => {
  const patchbay = runPatchbay()
  const api = runUser(patchbay)

  /** Starts a WebSocket server that echoes what it receives. */
  const startEcho = async () => {
    const http = createServer()
    const seen: IncomingMessage[] = []
    const opened: WebSocket[] = []
    const server = new WebSocketServer({ server: http, handleProtocols: () => 'mcp' })
    server.on('headers', headers => headers.push('Set-Cookie: a=b', 'X-Own: yes'))
    server.on('connection', (socket, request) => {
      seen.push(request)
      opened.push(socket)
      socket.on('message', (data, isBinary) => socket.send(data, { binary: isBinary }))
      socket.on('error', () => {})
    })
    onTestFinished(() => {
      for (const socket of opened) socket.terminate()
      server.close()
    })
    return { seen, opened, ...(await listen(http)) }
  }
  const openSocket = async (path: string, headers: Record<string, string> = {}): Promise<WebSocket> => {
    const socket = new WebSocket(`${patchbay.origin.replace('http', 'ws')}${path}`, ['mcp'], { headers })
    onTestFinished(() => socket.terminate())
    socket.on('error', () => {})
    await once(socket, 'open')
    return socket
  }

  it('carries text and bytes both ways, with its path and without our token', async () => {
    const echo = await startEcho()
    const server = await passTo(api, `http://127.0.0.1:${echo.port}/mcp`, { server: { access: 'private' } })
    const upgraded: IncomingMessage[] = []
    const socket = new WebSocket(`${patchbay.origin.replace('http', 'ws')}${server.path}/live?x=1`, ['mcp'], {
      headers: { authorization: `Bearer ${api.token}`, cookie: 'a=b' },
    })
    onTestFinished(() => socket.terminate())
    socket.on('upgrade', answer => upgraded.push(answer))
    await once(socket, 'open')
    for (const message of ['hello', Buffer.alloc(300_000, 7)]) {
      socket.send(message)
      const [data, isBinary] = await once(socket, 'message')
      expect(isBinary).toBe(typeof message !== 'string')
      expect(Buffer.from(data).equals(Buffer.from(message))).toBe(true)
    }
    const [request] = echo.seen
    expect(request?.url).toBe('/mcp/live?x=1')
    expect(request?.headers).toMatchObject({ host: `127.0.0.1:${echo.port}`, 'x-forwarded-for': '127.0.0.1' })
    expect(request?.headers).not.toHaveProperty('authorization')
    expect(request?.headers).not.toHaveProperty('cookie')
    expect(upgraded[0]?.headers).toMatchObject({ 'x-own': 'yes', 'sec-websocket-protocol': 'mcp' })
    expect(upgraded[0]?.headers).not.toHaveProperty('set-cookie')
    socket.close(1_000, 'enough')
    await once(socket, 'close')
    await until(async () => expect(await historyOf(api, server.id)).toHaveLength(1))
    const [latest] = await historyOf(api, server.id)
    expect(latest).toMatchObject({ outcome: 'ok', status: 101, request: { method: 'GET' } })
    expect(latest?.requestBytes).toBeGreaterThan(300_000)
    expect(latest?.responseBytes).toBeGreaterThan(300_000)
  })

  it('reaches the address itself under our address with a slash', async () => {
    const echo = await startEcho()
    const server = await passTo(api, `http://127.0.0.1:${echo.port}/mcp`)
    for (const ending of ['/', '/?a=1', '/?list=2']) (await openSocket(`${server.path}${ending}`)).terminate()
    expect(echo.seen.map(({ url }) => url)).toEqual(['/mcp', '/mcp?a=1', '/mcp'])
  })

  it('ends on one side when the other ends, in any way', async () => {
    const echo = await startEcho()
    const server = await passTo(api, `http://127.0.0.1:${echo.port}/mcp`)
    const pair = async () => {
      const client = await openSocket(server.path)
      const [other] = echo.opened.slice(-1)
      if (other === undefined) throw new Error('nobody came')
      return { client, other }
    }
    const first = await pair()
    first.client.terminate()
    await once(first.other, 'close')
    const second = await pair()
    second.other.terminate()
    await once(second.client, 'close')
    const third = await pair()
    third.other.close(1_001, 'bye')
    const [code, reason] = await once(third.client, 'close')
    expect([code, String(reason)]).toEqual([1_001, 'bye'])
  })

  it('ends when its caller loses access, and when the server stops passing requests on', async () => {
    const echo = await startEcho()
    const server = await passTo(api, `http://127.0.0.1:${echo.port}/mcp`)
    const first = await openSocket(server.path)
    await Promise.all([once(first, 'close'), api.expectOk('PATCH', `/servers/${server.id}`, { access: 'private' })])
    const headers = { authorization: `Bearer ${api.token}` }
    const second = await openSocket(server.path, headers)
    await Promise.all([once(second, 'close'), api.expectOk('PATCH', `/servers/${server.id}`, { presentation: 'flat' })])
  })

  it('refused by the upstream gets the upstream’s response, except for one about credentials', async () => {
    let status = 426
    const upstream = await startUpstream(response => {
      response.writeHead(status, {
        ...{ 'www-authenticate': 'Bearer', 'set-cookie': 'a=b', 'x-own': 'yes' },
        ...(status === 302 && { location: 'http://inside.test/' }),
      })
      response.end('no')
    })
    const server = await passTo(api, `http://127.0.0.1:${upstream.port}/mcp`)
    const upgrade = `GET ${server.path} HTTP/1.1\r\nHost: localhost\r\nConnection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Version: 13\r\nSec-WebSocket-Key: AAAAAAAAAAAAAAAAAAAAAA==\r\n\r\n`
    const refused = await sendRaw(patchbay.origin, upgrade)
    expect(refused.status).toBe(426)
    expect(refused.head.toLowerCase()).toContain('x-own: yes')
    expect(refused.head.toLowerCase()).not.toMatch(/set-cookie|www-authenticate/)
    expect(refused.head.toLowerCase()).toContain('content-security-policy: sandbox')
    status = 302
    const redirected = await sendRaw(patchbay.origin, upgrade)
    expect([redirected.status, redirected.body]).toEqual([502, expect.stringContaining('redirected')])
    expect(`${redirected.head}${redirected.body}`).not.toContain('inside.test')
    status = 401
    const rejected = await sendRaw(patchbay.origin, upgrade)
    expect([rejected.status, rejected.body]).toEqual([502, expect.stringContaining('401')])
    expect(rejected.head.toLowerCase()).not.toContain('www-authenticate')
    await upstream.stop()
    const down = await sendRaw(patchbay.origin, upgrade)
    expect(down.status).toBe(503)
    expect(down.body).toContain('jsonrpc')
  })

  it('cannot hide a request behind a content length', async () => {
    const upstream = await startUpstream()
    const server = await passTo(api, `http://127.0.0.1:${upstream.port}/mcp`, { upstream: { timeoutMs: 2_000 } })
    const hidden = 'GET /smuggled HTTP/1.1\r\nHost: x\r\n\r\n'
    const upgrade = `GET ${server.path} HTTP/1.1\r\nHost: localhost\r\nConnection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Version: 13\r\nSec-WebSocket-Key: AAAAAAAAAAAAAAAAAAAAAA==\r\n`
    expect((await sendRaw(patchbay.origin, `${upgrade}Content-Length: ${hidden.length}\r\n\r\n${hidden}`)).status).toBe(
      200,
    )
    await fetch(server.url, { method: 'POST', body: 'next' })
    expect(upstream.seen.map(({ url, body }) => [url, body])).toEqual([
      ['/mcp', ''],
      ['/mcp', 'next'],
    ])
  })

  it('is the only supported upgrade: others are handled as plain requests', async () => {
    const upstream = await startUpstream()
    const server = await passTo(api, `http://127.0.0.1:${upstream.port}/mcp`)
    const h2c = 'Connection: Upgrade, HTTP2-Settings\r\nUpgrade: h2c\r\nHTTP2-Settings: AAMAAABkAAQAAP__\r\n'
    const answer = await sendRaw(
      patchbay.origin,
      `POST ${server.path} HTTP/1.1\r\nHost: localhost\r\n${h2c}Content-Length: 2\r\n\r\nhi`,
    )
    expect(answer.status).toBe(200)
    expect(upstream.seen[0]?.body).toBe('hi')
    const page = await sendRaw(
      patchbay.origin,
      'GET /health HTTP/1.1\r\nHost: localhost\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\r\n',
    )
    expect(page.status).toBeGreaterThan(0)
  })
})
