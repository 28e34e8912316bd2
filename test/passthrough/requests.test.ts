import { describe, expect, it } from 'vitest'
import { runPatchbay, runUser } from '../support/world.ts'
import { historyOf, passTo, sendRaw, startUpstream } from './support.ts'

describe('a request to a passthrough server', () => {
  const patchbay = runPatchbay()
  const api = runUser(patchbay)

  it.each(['GET', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS', 'PROPFIND', 'QUERY'])(
    'arrives by %s as it was sent: path, query and body',
    async method => {
      const upstream = await startUpstream()
      const server = await passTo(api, `http://127.0.0.1:${upstream.port}/mcp`)
      const body = method === 'GET' ? '' : 'a body, {"as": "it is"} \u00e9'
      const length = body === '' ? '' : `Content-Length: ${Buffer.byteLength(body)}\r\n`
      const sent = Buffer.from(body).toString('latin1')
      const answer = await sendRaw(
        patchbay.origin,
        `${method} ${server.path}/a%2Fb/c//d?x=1&y=%20 HTTP/1.1\r\nHost: localhost\r\n${length}\r\n${sent}`,
      )
      expect(answer.status).toBe(200)
      expect(upstream.seen).toMatchObject([{ method, url: '/mcp/a%2Fb/c//d?x=1&y=%20', body }])
    },
  )

  it('arrives at the upstream’s own address if its path ends with the server', async () => {
    const upstream = await startUpstream()
    const server = await passTo(api, `http://127.0.0.1:${upstream.port}/mcp?key=1`)
    for (const rest of ['', '?a=2', '/', '/?list=3', '?list=3&a=2'])
      await (await fetch(`${server.url}${rest}`, { method: 'POST' })).text()
    expect(upstream.seen.map(({ url }) => url)).toEqual([
      '/mcp?key=1',
      '/mcp?key=1&a=2',
      '/mcp?key=1',
      '/mcp?key=1',
      '/mcp?key=1&list=3&a=2',
    ])
    const [latest] = await historyOf(api, server.id)
    expect(latest).toMatchObject({
      tool: null,
      outcome: 'ok',
      status: 200,
      requestBytes: 0,
      request: { method: 'POST', url: `${patchbay.origin}/s/${server.id}` },
    })
    expect(latest?.responseBytes).toBeGreaterThan(0)
  })
})
