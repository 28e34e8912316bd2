import { expect, it, vi } from 'vitest'
import { runFakeApi } from '../support/world.ts'
import { callTool, openUpstream, remote } from './support.ts'

const CALLS = 200
const RESULT = {
  protocolVersion: '2025-11-25',
  capabilities: { tools: {} },
  serverInfo: { name: 'reopening', version: '1' },
  content: [{ type: 'text', text: 'done' }],
}
let streams = 0

/** Ends each stream of notifications after its first event, and asks for the next one at once. */
const upstream = runFakeApi((request, response) => {
  if (request.method === 'GET') {
    streams += 1
    const notification = { jsonrpc: '2.0', method: 'notifications/message', params: { level: 'info', data: 'more' } }
    response.writeHead(200, { 'content-type': 'text/event-stream' })
    return void response.end(`retry: 0\nid: 1\ndata: ${JSON.stringify(notification)}\n\n`)
  }
  if (request.method !== 'POST') return void response.writeHead(405).end()
  const { id, method }: { id?: number; method: string } = JSON.parse(request.body)
  if (id === undefined) return void response.writeHead(202).end()
  const outcome = method === 'server/discover' ? { error: { code: -32_601, message: 'Method not found' } } : undefined
  response.writeHead(200, { 'content-type': 'application/json' })
  response.end(JSON.stringify({ jsonrpc: '2.0', id, ...(outcome ?? { result: RESULT }) }))
})

it('an upstream that ends its stream and asks to reopen it at once has it reopened rarely', async () => {
  const connection = openUpstream(remote('http', upstream.origin.replace('localhost', '127.0.0.1')))
  expect(await callTool(connection, 'work')).toBe('done')
  await vi.waitFor(() => expect(streams).toBeGreaterThan(0))
  for (let call = 0; call < CALLS; call++) await callTool(connection, 'work')
  expect(streams).toBeLessThan(CALLS / 10)
})
