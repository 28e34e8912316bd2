import { createServer, type ServerResponse } from 'node:http'
import { describe, expect, it } from 'vitest'
import { runPatchbay, runUser } from '../support/world.ts'
import { listen, passTo, until } from './support.ts'

describe('several addresses of one upstream', () => {
  const patchbay = runPatchbay()
  const api = runUser(patchbay)

  /** Starts an upstream that responds with its own name and holds requests on demand. */
  const startNamed = async (name: string, port = 0) => {
    const held: ServerResponse[] = []
    const seen: string[] = []
    const upstream = await listen(
      createServer((request, response) => {
        if (request.method === 'OPTIONS') {
          response.end()
          return
        }
        seen.push(`${request.method} ${request.url}`)
        request.resume()
        if (request.url === '/mcp/hold') held.push(response)
        else if (request.url === '/mcp/begin') response.setHeader('mcp-session-id', `session-of-${name}`).end(name)
        else response.end(name)
      }),
      port,
    )
    return { name, held, seen, ...upstream, url: `http://127.0.0.1:${upstream.port}/mcp` }
  }
  const startAll = async () => {
    const all = await Promise.all(['a', 'b', 'c'].map(name => startNamed(name)))
    const [first, ...others] = all
    if (first === undefined) throw new Error('there is none')
    const server = await passTo(api, first.url, { upstream: { urls: others.map(({ url }) => url) } })
    const ask = async (path = '', headers: Record<string, string> = {}) =>
      (await fetch(`${server.url}${path}`, { method: 'POST', headers })).text()
    return { all, server, ask }
  }

  it('share the requests: each goes to the address with the fewest open ones', async () => {
    const { all, ask } = await startAll()
    const holding = Array.from({ length: 6 }, () => ask('/hold'))
    await until(() => expect(all.map(({ held }) => held.length)).toEqual([2, 2, 2]))
    for (const response of all[1]?.held ?? []) response.end('b')
    await until(async () => expect(await ask()).toBe('b'))
    for (const { held, name } of all) for (const response of held) response.end(name)
    expect((await Promise.all(holding)).sort()).toEqual(['a', 'a', 'b', 'b', 'c', 'c'])
  })

  it('keep a session at the address that started it', async () => {
    const { all, ask } = await startAll()
    const holding = ask('/hold')
    await until(() => expect(all.flatMap(({ held }) => held)).toHaveLength(1))
    const name = await ask('/begin')
    expect(name).not.toBe('a')
    for (const { held } of all) for (const response of held) response.end()
    await holding
    for (let times = 0; times < 5; times++) {
      expect(await ask('', { 'mcp-session-id': `session-of-${name}` })).toBe(name)
    }
    expect(await ask('', { 'mcp-session-id': 'never-heard-of' })).toBe('a')
  })

  it('replace an address that refuses connections, until it is back', async () => {
    const { all, ask } = await startAll()
    const [a] = all
    await a?.stop()
    // The request goes to another address, because none of its body had been sent.
    expect(await ask('', { 'mcp-session-id': 'session-of-a' })).toBe('b')
    expect(await ask()).toBe('b')
    const again = await startNamed('a again', a?.port)
    await until(async () => expect(await ask()).toBe('a again'))
    expect(again.seen.length).toBeGreaterThan(0)
  })

  it('return an error with Retry-After if all of them are down', async () => {
    const { all, server, ask } = await startAll()
    for (const { stop } of all) await stop()
    await ask()
    const answer = await fetch(server.url, { method: 'POST', body: '{}' })
    expect(answer.status).toBe(503)
    expect(answer.headers.get('retry-after')).toBe('1')
    expect(await answer.json()).toMatchObject({
      jsonrpc: '2.0',
      error: { message: expect.stringContaining('The MCP server "behind" cannot be reached at any of its addresses') },
    })
    await startNamed('c', all[2]?.port)
    await until(async () => expect(await ask()).toBe('c'))
  })

  it('end a stream with its client, even if an earlier address refused the connection', async () => {
    let open = 0
    const streaming = await listen(
      createServer((request, response) => {
        if (request.method === 'OPTIONS') {
          response.end()
          return
        }
        open++
        response.on('close', () => open--)
        response.writeHead(200, { 'content-type': 'text/event-stream' }).write('data: 1\n\n')
      }),
    )
    const { url } = await passTo(api, 'http://169.254.169.254:1/mcp', {
      upstream: { urls: [`http://127.0.0.1:${streaming.port}/mcp`] },
    })
    const leaving = new AbortController()
    const answer = await fetch(url, { signal: leaving.signal })
    expect([answer.status, open]).toEqual([200, 1])
    leaving.abort()
    await expect.poll(() => open).toBe(0)
  })
})
