import { request } from 'node:http'
import { describe, expect, it, vi } from 'vitest'
import type { JsonObject } from '../../src/lib/kernel/json.ts'
import { send } from '../mcp/wire.ts'
import { runPatchbay, runUser } from '../support/world.ts'
import { connectClient, jsonOf } from './clients.ts'
import { commandOf } from './support.ts'

const patchbay = runPatchbay({ env: { PATCHBAY_ALLOW_STDIO: 'true' } })
const operator = runUser(patchbay, 'operator@example.com')

const META = {
  'io.modelcontextprotocol/protocolVersion': '2026-07-28',
  'io.modelcontextprotocol/clientCapabilities': { elicitation: {} },
}
const POST = { 'content-type': 'application/json', accept: 'application/json, text/event-stream' }
const AT_ONCE = 50

const inCrowds = async (count: number, work: (index: number) => Promise<unknown>): Promise<void> => {
  for (let from = 0; from < count; from += AT_ONCE) {
    await Promise.all(Array.from({ length: AT_ONCE }, (_, index) => work(from + index)))
  }
}

/** Counts the active resources of this process, which runs Patchbay, by kind. */
const countResources = (): Record<string, number> => {
  const kinds = process.getActiveResourcesInfo()
  return Object.fromEntries([...new Set(kinds)].map(kind => [kind, kinds.filter(each => each === kind).length]))
}

describe('hundreds of clients that connect, subscribe and are cut off', () => {
  it('leave no subscriptions, processes, streams or timers behind', async () => {
    const { id: serverId } = await operator.create('/servers', { name: 'Left', access: 'public' })
    const { id } = await operator.create(`/servers/${serverId}/upstreams`, {
      name: 'talks',
      ...commandOf('talks-old'),
    })
    await operator.expectOk('POST', `/upstreams/${id}/refresh`)
    const url = `${patchbay.origin}/s/${serverId}`
    const watcher = await connectClient('sdk 1', url)
    const subscribed = async () =>
      jsonOf<{ subscribed: string[] }>(await watcher.callTool('talks_told')).subscribed.toSorted()

    /** Opens a stream and cuts it off after its first event. */
    const cut = (method: string, headers: Record<string, string>, path = '', body?: object): Promise<void> =>
      new Promise((resolve, reject) => {
        const sent = request(`${url}${path}`, { method, headers, agent: false }, response => {
          response.on('error', () => {})
          response.once('data', () => {
            sent.destroy()
            resolve()
          })
        })
        sent.on('error', reject)
        sent.on('close', resolve)
        sent.end(body && JSON.stringify(body))
      })
    /** `send` opens a connection for each request, so that none is reused. */
    const port = Number(new URL(patchbay.origin).port)
    const path = `/s/${serverId}`
    const call = (headers: Record<string, string>, body: JsonObject) =>
      send({ port }, { path, headers: { ...POST, ...headers }, body: { jsonrpc: '2.0', ...body } })

    const comeInSession = async (index: number): Promise<void> => {
      const params = { protocolVersion: '2025-11-25', capabilities: {}, clientInfo: { name: 'crowd', version: '1' } }
      const begun = await call({}, { id: 1, method: 'initialize', params })
      const session = { 'mcp-session-id': String(begun.headers['mcp-session-id']) }
      await call(session, { id: 2, method: 'logging/setLevel', params: { level: 'debug' } })
      const uri = `talks://any/${index % 7}`
      await call(session, { id: 3, method: 'resources/subscribe', params: { uri } })
      await cut('GET', { ...session, accept: 'text/event-stream' })
      expect((await send({ port }, { method: 'DELETE', path, headers: session })).status).toBe(200)
    }
    const listen = (index: number): Promise<void> =>
      cut('POST', { ...POST, 'mcp-protocol-version': '2026-07-28', 'mcp-method': 'subscriptions/listen' }, '', {
        jsonrpc: '2.0',
        id: index,
        method: 'subscriptions/listen',
        params: { notifications: { resourceSubscriptions: [`talks://any/${index % 7}`] }, _meta: META },
      })
    const round = async (count: number): Promise<void> => {
      await inCrowds(count, comeInSession)
      await inCrowds(count, listen)
      await inCrowds(count, () => cut('GET', { accept: 'text/event-stream' }, '/sse'))
      await vi.waitFor(async () => expect(await subscribed()).toEqual([]))
    }

    await round(AT_ONCE)
    const before = countResources()
    await round(4 * AT_ONCE)
    await vi.waitFor(() => {
      const after = countResources()
      for (const kind of ['ProcessWrap', 'PipeWrap', 'TCPSocketWrap', 'Timeout']) {
        // One or two idle connections are kept for reuse. Hundreds of them would be a leak.
        expect([kind, (after[kind] ?? 0) - (before[kind] ?? 0) < 20]).toEqual([kind, true])
      }
    }, 5_000)
  })
})
