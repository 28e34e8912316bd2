import { describe, expect, it } from 'vitest'
import { createMemoryShares } from '../../src/lib/outbound/memory-shares.ts'
import { runFakeApi } from '../support/world.ts'
import { callTool, faultOf, openUpstream, remote } from './support.ts'

const KB = 1_000
const SHARE = 500 * KB
const TEXT = 'a'.repeat(300 * KB)
const INITIALIZED = {
  protocolVersion: '2025-11-25',
  capabilities: { tools: {} },
  serverInfo: { name: 'large', version: '1' },
}

/** Returns large results, as JSON at `/json` and as an event at `/events`. */
const upstream = runFakeApi((request, response) => {
  if (request.method !== 'POST') return void response.writeHead(405).end()
  const { id, method }: { id?: number; method: string } = JSON.parse(request.body)
  if (id === undefined) return void response.writeHead(202).end()
  const result = method === 'initialize' ? INITIALIZED : { content: [{ type: 'text', text: TEXT }] }
  const outcome = method === 'server/discover' ? { error: { code: -32_601, message: 'Method not found' } } : { result }
  const message = JSON.stringify({ jsonrpc: '2.0', id, ...outcome })
  const isJson = request.url === '/json'
  response.writeHead(200, { 'content-type': isJson ? 'application/json' : 'text/event-stream' })
  response.end(isJson ? message : `data: ${message}\n\n`)
})

describe.each(['json', 'events'])('a large result of an attached MCP server, as %s', path => {
  const open = (organizationId: string) => {
    const memory = createMemoryShares({ maxBytes: 10 * SHARE, maxBytesOfOrganization: SHARE, maxWaitMs: 50 })
    const url = `${upstream.origin.replace('localhost', '127.0.0.1')}/${path}`
    const connection = openUpstream(remote('http', url), { organizationId, network: { memory } })
    /** Counts other responses of an organization. Returns a function that releases them. */
    const use = (user: string) => {
      const holder = { organizationId: user, creatorId: undefined, onGranted: () => {}, onRefused: () => {} }
      expect(memory.take(holder, SHARE)).toBe(true)
      return () => memory.keepOnly(holder, 0)
    }
    return { connection, use }
  }

  it('fails with the reason while other responses of its organization use the memory', async () => {
    const { connection, use } = open('own')
    const release = use('own')
    expect(await faultOf(callTool(connection, 'work'))).toMatchObject({
      kind: 'unavailable',
      message: expect.stringMatching(/^Responses of your organization use 500 kB of memory; this one from .* waited/),
    })
    release()
    expect(await callTool(connection, 'work')).toBe(TEXT)
  })

  it('is received many times, because each is released', async () => {
    const { connection, use } = open('own')
    use('other')
    for (let call = 0; call < 10; call++) expect(await callTool(connection, 'work')).toBe(TEXT)
  })
})
