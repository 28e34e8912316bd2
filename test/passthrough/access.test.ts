import { describe, expect, it, vi } from 'vitest'
import { WebSocket } from 'ws'
import type { ApiClient } from '../support/api-client.ts'
import { runPatchbay, runUser } from '../support/world.ts'
import { passTo, sendRaw, startUpstream } from './support.ts'

describe('the tier of a passthrough server', () => {
  const patchbay = runPatchbay({ env: { PATCHBAY_ALLOWED_ORIGINS: 'https://app.test' } })
  const api = runUser(patchbay)
  const stranger = runUser(patchbay)
  const bearer = ({ token }: ApiClient) => ({ authorization: `Bearer ${token}` })

  it.each(['', '/more/of/it'])('admits only callers with access, at %j', async rest => {
    const upstream = await startUpstream()
    const server = await passTo(api, `http://127.0.0.1:${upstream.port}/mcp`, { server: { access: 'private' } })
    const ask = (headers: Record<string, string>) =>
      fetch(`${server.url}${rest}`, { method: 'PUT', headers, body: 'x' })
    const refused = await ask({})
    expect(refused.status).toBe(401)
    expect(refused.headers.get('www-authenticate')).toContain(
      `resource_metadata="${patchbay.origin}/.well-known/oauth-protected-resource/s/${server.id}"`,
    )
    expect((await ask(bearer(stranger))).status).toBe(403)
    expect(upstream.seen).toEqual([])
    expect((await ask(bearer(api))).status).toBe(200)
  })

  it('applies to WebSockets too', async () => {
    const upstream = await startUpstream()
    const server = await passTo(api, `http://127.0.0.1:${upstream.port}/mcp`, { server: { access: 'private' } })
    const open = (headers: Record<string, string>, path = server.path): Promise<number> =>
      new Promise(resolve => {
        const socket = new WebSocket(`${patchbay.origin.replace('http', 'ws')}${path}`, { headers })
        socket.on('unexpected-response', (_request, { statusCode = 0 }) => {
          resolve(statusCode)
          socket.terminate()
        })
        socket.on('error', () => {})
      })
    expect(await open({})).toBe(401)
    expect(await open(bearer(stranger))).toBe(403)
    expect(await open({ ...bearer(api), origin: 'https://evil.test' })).toBe(403)
    const { id } = await api.create('/servers', { name: 'Flat', access: 'public' })
    expect(await open({}, `/s/${id}`)).toBe(404)
    expect(await open({}, '/s/none')).toBe(404)
    expect(upstream.seen).toEqual([])
  })

  it('hides a session from everybody except the caller who started it', async () => {
    const upstream = await startUpstream((response, { method, body }) => {
      if (method === 'POST') response.setHeader('mcp-session-id', body)
      response.end('here')
    })
    const server = await passTo(api, `http://127.0.0.1:${upstream.port}/mcp`)
    const begin = (session: string, headers = {}) => fetch(server.url, { method: 'POST', headers, body: session })
    const ask = (session: string, headers = {}) =>
      fetch(server.url, { headers: { 'mcp-session-id': session, ...headers } })

    const mine = '0123456789abcdef'.repeat(8)
    await begin(mine, bearer(api))
    expect(await (await ask(mine, bearer(api))).text()).toBe('here')
    const heard = upstream.seen.length
    for (const headers of [bearer(stranger), {}]) {
      const refused = await ask(mine, headers)
      expect(refused.status).toBe(404)
      expect(await refused.json()).toMatchObject({ error: { message: 'Session not found' } })
    }
    expect(upstream.seen).toHaveLength(heard)

    // Some upstreams treat other spellings of the header as the same, so these must not work either.
    for (const name of ['mcp_session_id', 'mcp-session_id']) {
      await fetch(server.url, { headers: { ...bearer(stranger), [name]: mine } })
      expect(upstream.seen.at(-1)?.headers).not.toHaveProperty(name)
    }

    // Only the upstream knows who owns these sessions: one was started anonymously, one has several callers, and one is
    // unknown.
    await Promise.all([begin('nobodys'), begin('alls', bearer(api))])
    await begin('alls', bearer(stranger))
    for (const session of ['nobodys', 'alls', 'new']) expect((await ask(session, bearer(stranger))).status).toBe(200)
  })

  it('does not assign a session id that the upstream only echoes', async () => {
    const upstream = await startUpstream((response, { headers }) => {
      response.setHeader('mcp-session-id', headers['mcp-session-id'] ?? 'fresh').end()
    })
    const server = await passTo(api, `http://127.0.0.1:${upstream.port}/mcp`)
    const ask = (headers: Record<string, string>) =>
      fetch(server.url, { headers: { ...headers, 'mcp-session-id': 'from-before' } })
    // This is the situation after a restart, when the first user of a session is not necessarily its owner.
    expect((await ask(bearer(stranger))).status).toBe(200)
    expect((await ask(bearer(api))).status).toBe(200)
  })

  /** Opens an HTTP+SSE stream. `path` is the address for the client's messages. */
  const openStream = async (url: string, headers: Record<string, string>) => {
    const reader = (await fetch(url, { headers })).body?.pipeThrough(new TextDecoderStream()).getReader()
    const told = (await reader?.read())?.value ?? ''
    return { path: /data: (\S+)/.exec(told)?.[1] ?? '', end: () => reader?.cancel() }
  }

  /** Starts an HTTP+SSE upstream that gives each stream the next of these addresses for messages. */
  const startOlderUpstream = (addresses: string[]) =>
    startUpstream((response, { method }) => {
      if (method === 'POST') return void response.end('taken')
      response.setHeader('content-type', 'text/event-stream')
      response.write(`event: endpoint\ndata: ${addresses.shift()}\n\n`)
    })

  it('accepts HTTP+SSE messages only from the caller of the stream, however their address is written', async () => {
    const upstream = await startOlderUpstream(['/messages?session=one', '/messages?session=two', '/at/Three'])
    const server = await passTo(api, `http://127.0.0.1:${upstream.port}/sse`, { upstream: { transport: 'sse' } })
    const mine = await openStream(server.url, bearer(api))
    const theirs = await openStream(server.url, bearer(stranger))
    const third = await openStream(server.url, bearer(api))
    expect(mine.path).toContain('session=one')
    const send = (path: string, headers: Record<string, string> = {}) =>
      sendRaw(
        patchbay.origin,
        [`POST ${path} HTTP/1.1`, 'Host: localhost', 'Content-Length: 2', 'Connection: close']
          .concat(Object.entries(headers).map(([name, value]) => `${name}: ${value}`))
          .join('\r\n')
          .concat('\r\n\r\n{}'),
      )
    const heard = upstream.seen.length
    const spelled = [
      mine.path,
      `${mine.path}&x=1`,
      mine.path.replace('?', '?x=1&'),
      mine.path.replace('=one', '=%6fne'),
      mine.path.replace('/messages', '/%6dessages'),
      mine.path.replace('/messages', '//messages/'),
      mine.path.replace('/messages', '/Messages;a'),
      third.path,
      third.path.replace('Three', 'three'),
      third.path.replace('Three', 'Thre%65'),
    ]
    for (const path of spelled) {
      expect([path, (await send(path, bearer(stranger))).status]).toEqual([path, 404])
      expect([path, (await send(path)).status]).toEqual([path, 404])
    }
    expect(upstream.seen).toHaveLength(heard)
    expect(await send(mine.path, bearer(api))).toMatchObject({ status: 200, body: 'taken' })
    expect(await send(mine.path.replace('=one', '=%6fne'), bearer(api))).toMatchObject({ status: 200 })
    expect(await send(theirs.path, bearer(stranger))).toMatchObject({ status: 200, body: 'taken' })
    await Promise.all([mine.end(), theirs.end(), third.end()])
    // The address is reserved only while its stream is open. After that, the upstream decides.
    await vi.waitFor(async () => expect((await send(mine.path)).status).toBe(200))
  })

  it('leaves a stream open to all callers if its messages go to the address of the server itself', async () => {
    const upstream = await startOlderUpstream(['/sse', '/sse'])
    const server = await passTo(api, `http://127.0.0.1:${upstream.port}/sse`, { upstream: { transport: 'sse' } })
    const first = await openStream(server.url, bearer(api))
    expect((await fetch(server.url, { method: 'POST', headers: bearer(stranger), body: '{}' })).status).toBe(404)
    const second = await openStream(server.url, bearer(stranger))
    for (const one of [api, stranger]) {
      const sent = await fetch(`${patchbay.origin}${second.path}`, { method: 'POST', headers: bearer(one), body: '{}' })
      expect(await sent.text()).toBe('taken')
    }
    await Promise.all([first.end(), second.end()])
  })

  it('admits pages of allowed origins only, and sets the CORS headers in place of the upstream', async () => {
    const upstream = await startUpstream()
    const server = await passTo(api, `http://127.0.0.1:${upstream.port}/mcp`)
    expect((await fetch(server.url, { headers: { origin: 'https://evil.test' } })).status).toBe(403)
    const asked = { 'access-control-request-method': 'PUT', 'access-control-request-headers': 'x-any' }
    const preflight = await fetch(`${server.url}/x`, {
      method: 'OPTIONS',
      headers: { origin: 'https://app.test', ...asked },
    })
    expect(preflight.status).toBe(204)
    expect(preflight.headers.get('access-control-allow-methods')).toContain('PUT')
    expect(upstream.seen).toEqual([])
    const answer = await fetch(server.url, { headers: { origin: 'https://app.test' } })
    expect(answer.headers.get('access-control-allow-origin')).toBe('https://app.test')
    expect((await fetch(server.url, { method: 'OPTIONS' })).status).toBe(200)
    expect(upstream.seen.map(({ method }) => method)).toEqual(['GET', 'OPTIONS'])
  })

  it('does not open any path below a server that is not a passthrough server, whatever the method', async () => {
    const { id } = await api.create('/servers', { name: 'Flat' })
    for (const method of ['GET', 'POST', 'PUT', 'DELETE', 'PATCH', 'HEAD', 'OPTIONS', 'PROPFIND']) {
      const answer = await sendRaw(
        patchbay.origin,
        `${method} /s/${id}/x HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n`,
      )
      expect([method, answer.status]).toEqual([method, 404])
    }
  })
})
