import { describe, expect, it } from 'vitest'
import type { UpstreamState } from '../../src/upstreams/upstream.ts'
import { type Api, startApi } from '../lib/outbound/apis.ts'
import { callTool, commandOf, faultOf, openUpstream, remote, stateOf } from './support.ts'

const NOWHERE = remote('http', 'http://api.test:1/mcp')

/** Starts a minimal session-era upstream that can be told to fail, or not to respond to calls. */
const startFlaky = async (): Promise<Api & { isDown: boolean; isStuck: boolean; opened: number }> => {
  const flaky = { isDown: false, isStuck: false, opened: 0 }
  const api = await startApi((request, response) => {
    const parts: Buffer[] = []
    request.on('data', part => parts.push(part))
    request.on('end', () => {
      if (flaky.isDown) return void response.writeHead(503).end()
      if (request.method !== 'POST') return void response.writeHead(405).end()
      const { id, method } = JSON.parse(Buffer.concat(parts).toString())
      if (id === undefined) return void response.writeHead(202).end()
      if (method === 'tools/call' && flaky.isStuck) return
      if (method === 'initialize') flaky.opened++
      const result = {
        initialize: {
          protocolVersion: '2025-11-25',
          capabilities: { tools: {} },
          serverInfo: { name: 'flaky', version: '1' },
        },
        'tools/call': { content: [{ type: 'text', text: 'well' }] },
      }[String(method)]
      const error = { code: -32_601, message: 'Method not found' }
      response.setHeader('content-type', 'application/json')
      response.end(JSON.stringify({ jsonrpc: '2.0', id, ...(result === undefined ? { error } : { result }) }))
    })
  })
  return Object.assign(flaky, api)
}

const secondsToNextTry = (state: UpstreamState): number =>
  state.kind === 'failed' && state.nextTryAt !== undefined
    ? (state.nextTryAt.getTime() - Date.now()) / 1_000
    : Number.NaN

describe('an upstream that cannot be reached', () => {
  it('is retried after 2, 4, 8 and 30 s, and after five failures calls do not retry earlier', async () => {
    const upstream = openUpstream(NOWHERE)
    const waits: number[] = []
    upstream.onState(state => {
      if (state.kind === 'failed') waits.push(Math.round(secondsToNextTry(state)))
    })
    for (let i = 0; i < 5; i++) expect((await faultOf(upstream.get())).kind).toBe('refused')
    expect(waits).toEqual([2, 4, 8, 30, 30])
    const { kind, message } = await faultOf(upstream.get())
    expect([kind, message]).toEqual([
      'unavailable',
      expect.stringMatching(/refused the connection.*reconnects in \d+ s\.$/),
    ])
    expect((await faultOf(callTool(upstream, 'x'))).kind).toBe('unavailable')
  })

  it('shows since when it has failed', async () => {
    const upstream = openUpstream(NOWHERE)
    await faultOf(upstream.get())
    const first = upstream.state()
    await faultOf(upstream.get())
    const second = upstream.state()
    expect([first.kind, second.kind]).toEqual(['failed', 'failed'])
    expect('since' in second && 'since' in first && second.since).toEqual('since' in first && first.since)
  })

  it('is reconnected in the background once it is reachable', async () => {
    const api = await startFlaky()
    api.isDown = true
    const upstream = openUpstream(remote('http', `http://api.test:${api.port}/mcp`), {
      limits: { retryDelaysMs: [1, 1, 1, 20] },
    })
    const states: string[] = []
    const sixth = new Promise<void>(resolve => {
      upstream.onState(({ kind }) => {
        states.push(kind)
        if (states.filter(state => state === 'failed').length === 6) resolve()
      })
    })
    expect((await faultOf(upstream.get())).kind).toBe('http_status')
    await sixth
    api.isDown = false
    await stateOf(upstream, ({ kind }) => kind === 'connected')
    expect(states.slice(0, 4)).toEqual(['connecting', 'failed', 'connecting', 'failed'])
    expect(await callTool(upstream, 'x')).toBe('well')
  })

  it('delays no other upstream', async () => {
    const hanging = await startApi(() => {})
    const api = await startFlaky()
    const slow = openUpstream(remote('http', `http://api.test:${hanging.port}/mcp`))
    const good = openUpstream(remote('http', `http://api.test:${api.port}/mcp`))
    const waiting = faultOf(slow.get())
    expect(await callTool(good, 'x')).toBe('well')
    expect(slow.state()).toEqual({ kind: 'connecting' })
    await slow.close()
    expect((await waiting).kind).toBe('aborted')
  })

  it('lets a caller cancel while the others keep waiting', async () => {
    const upstream = openUpstream(commandOf('hostile'))
    const stop = new AbortController()
    const impatient = faultOf(callTool(upstream, 'pid', {}, stop.signal))
    const patient = callTool(upstream, 'echo', { text: 'here' })
    stop.abort()
    expect((await impatient).kind).toBe('aborted')
    expect(await patient).toBe('here')
  })
})

describe('an upstream that stops responding', () => {
  it('is disconnected after five timeouts, not called until the retry, and reconnected then', async () => {
    const api = await startFlaky()
    const upstream = openUpstream(remote('http', `http://api.test:${api.port}/mcp`), {
      timeoutMs: 500,
      limits: { retryDelaysMs: [200] },
    })
    await upstream.get()
    api.isStuck = true
    const given = stateOf(upstream, ({ kind }) => kind === 'failed')
    const faults = await Promise.all(Array.from({ length: 5 }, () => faultOf(callTool(upstream, 'x'))))
    expect(faults.map(({ kind }) => kind)).toEqual(Array.from({ length: 5 }, () => 'timeout'))
    expect(await given).toMatchObject({
      kind: 'failed',
      why: 'The MCP server did not respond 5 times in a row.',
      nextTryAt: expect.any(Date),
    })
    api.isStuck = false
    await stateOf(upstream, ({ kind }) => kind === 'connected')
    expect(await callTool(upstream, 'x')).toBe('well')
    expect(api.opened).toBe(2)
  })
})

describe('an upstream whose configuration cannot be resolved', () => {
  it('fails with the reason', async () => {
    const upstream = openUpstream(NOWHERE, { resolveError: new Error('The global API_KEY has no value yet.') })
    const { kind, message } = await faultOf(upstream.get())
    expect([kind, message]).toEqual(['misconfigured', 'The global API_KEY has no value yet.'])
    expect(upstream.state()).toMatchObject({ kind: 'failed', why: 'The global API_KEY has no value yet.' })
  })
})
