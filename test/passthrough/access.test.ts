import { beforeAll, describe, expect, it } from 'vitest'
import { WebSocket } from 'ws'
import { runPatchbay } from '../servers/patchbay.ts'
import { type ApiClient, signUp } from '../support/api-client.ts'
import { passTo, sendRaw, startUpstream } from './support.ts'

describe('the tier of a passthrough server', () => {
  const patchbay = runPatchbay(undefined, { PATCHBAY_ALLOWED_ORIGINS: 'https://app.test' })
  let api: ApiClient
  let stranger: ApiClient
  beforeAll(async () => {
    api = await signUp(patchbay.origin)
    stranger = await signUp(patchbay.origin)
  })
  const bearer = ({ token }: ApiClient) => ({ authorization: `Bearer ${token}` })

  it.each(['', '/more/of/it'])('keeps out who may not use it, and lets in who may, at %j', async rest => {
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

  it('holds for WebSockets as well', async () => {
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

  it('keeps a session to who began it, as if nobody else had heard of it', async () => {
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

    // Of these the upstream alone knows whose they are: begun by nobody known, given to several, never heard of.
    await Promise.all([begin('nobodys'), begin('alls', bearer(api))])
    await begin('alls', bearer(stranger))
    for (const session of ['nobodys', 'alls', 'new']) expect((await ask(session, bearer(stranger))).status).toBe(200)
  })

  it('keeps the messages of the older transport to who has its stream', async () => {
    const upstream = await startUpstream((response, { method }) => {
      if (method === 'POST') return void response.end('taken')
      response.setHeader('content-type', 'text/event-stream')
      response.write('event: endpoint\ndata: /messages?session=one\n\n')
    })
    const to = { upstream: { transport: 'sse' } }
    const server = await passTo(api, `http://127.0.0.1:${upstream.port}/sse`, to)
    const stream = await fetch(server.url, { headers: bearer(api) })
    const reader = stream.body?.pipeThrough(new TextDecoderStream()).getReader()
    const told = (await reader?.read())?.value ?? ''
    const path = /data: (\S+)/.exec(told)?.[1] ?? ''
    expect(path).toContain('session=one')
    const send = (headers: Record<string, string>) =>
      fetch(`${patchbay.origin}${path}`, { method: 'POST', headers, body: '{}' })
    expect((await send(bearer(stranger))).status).toBe(404)
    expect((await send({})).status).toBe(404)
    expect(await (await send(bearer(api))).text()).toBe('taken')
    await reader?.cancel()
  })

  it('lets pages of allowed origins alone ask, and answers for the upstream what they may', async () => {
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

  it('shows nothing below the address of a server that answers itself, whatever the method', async () => {
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
