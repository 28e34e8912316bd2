import { randomBytes } from 'node:crypto'
import { afterEach, describe, expect, it, vi } from 'vitest'
import { INITIALIZE, makeServer, startTestApp, type TestApp, type TestAppOptions } from './support.ts'
import { beginSession, openStream, post, replyOf, send } from './wire.ts'

const HOUR = 60 * 60 * 1_000
const ping = { jsonrpc: '2.0', id: 1, method: 'ping' }
const server = makeServer()
const started: TestApp[] = []

const start = async (options: TestAppOptions): Promise<TestApp> => {
  const app = await startTestApp({ servers: [server], ...options })
  started.push(app)
  return app
}
afterEach(async () => {
  vi.useRealTimers()
  for (const app of started.splice(0)) await app.close()
})

describe('a session', () => {
  it('ends after 24 hours without a request, counted from the last one', async () => {
    let at = 0
    const app = await start({ now: () => at })
    const [used, unused] = [await beginSession(app, server.id), await beginSession(app, server.id)]
    at += 23 * HOUR
    expect((await post(app, server.id, ping, used)).status).toBe(200)
    at += 2 * HOUR
    expect((await post(app, server.id, ping, unused)).status).toBe(404)
    expect((await post(app, server.id, ping, used)).status).toBe(200)
    at += 25 * HOUR
    expect((await post(app, server.id, ping, used)).status).toBe(404)
  })

  it('stays ended after it has been forgotten', async () => {
    vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval'] })
    let at = 0
    const app = await start({ now: () => at })
    const session = await beginSession(app, server.id)
    at += 25 * HOUR
    vi.advanceTimersByTime(HOUR)
    expect((await post(app, server.id, ping, session)).status).toBe(404)
  })

  it('with an open stream does not end', async () => {
    let at = 0
    const app = await start({ now: () => at })
    const session = await beginSession(app, server.id)
    const stream = await openStream(app, { path: `/s/${server.id}`, headers: session })
    at += 25 * HOUR
    expect((await post(app, server.id, ping, session)).status).toBe(200)
    stream.close()
  })

  it('continues in another process with the same keys, with its version and client', async () => {
    const signingKeys = [{ id: 'one', key: randomBytes(32) }]
    const session = await beginSession(await start({ signingKeys }), server.id, '2025-03-26')
    const other = await start({ signingKeys })
    const { 'mcp-protocol-version': _, ...withoutVersion } = session
    // Only version 2025-03-26 supports batches, so the session has kept its version.
    const response = await post(other, server.id, [ping], withoutVersion)
    expect(response.json()).toEqual([{ jsonrpc: '2.0', id: 1, result: {} }])
  })

  it('survives a restart, however long ago it was started', async () => {
    const signingKeys = [{ id: 'one', key: randomBytes(32) }]
    let at = 0
    const now = () => at
    const session = await beginSession(await start({ signingKeys, now }), server.id)
    at += 48 * HOUR
    const restarted = await start({ signingKeys, now })
    expect((await post(restarted, server.id, ping, session)).status).toBe(200)
    at += 25 * HOUR
    expect((await post(restarted, server.id, ping, session)).status).toBe(404)
  })

  it('signed with an older key is valid until that key is removed', async () => {
    const [older, newer] = [
      { id: 'older', key: randomBytes(32) },
      { id: 'newer', key: randomBytes(32) },
    ]
    const session = await beginSession(await start({ signingKeys: [older] }), server.id)
    expect((await post(await start({ signingKeys: [newer, older] }), server.id, ping, session)).status).toBe(200)
    expect((await post(await start({ signingKeys: [newer] }), server.id, ping, session)).status).toBe(404)
    const forged = { id: 'older', key: randomBytes(32) }
    expect((await post(await start({ signingKeys: [forged] }), server.id, ping, session)).status).toBe(404)
  })
})

describe('sessions beyond the limit', () => {
  it('are refused, naming limit and setting, until others have been idle for a while', async () => {
    let at = 0
    const app = await start({ now: () => at, limits: { maxSessionsPerServer: 3 } })
    const sessions = []
    for (let count = 0; count < 3; count++) sessions.push(await beginSession(app, server.id))
    const refused = await post(app, server.id, INITIALIZE('2025-11-25'))
    expect(refused.status).toBe(503)
    expect(refused.headers['retry-after']).toBeDefined()
    expect(replyOf(refused).error?.message).toMatch(/3 open sessions.*PATCHBAY_MAX_SESSIONS_PER_SERVER/)
    expect((await post(app, server.id, ping, sessions[0])).status).toBe(200)
    at += HOUR
    await beginSession(app, server.id)
    expect((await post(app, server.id, ping, sessions[1])).status).toBe(200)
  })

  it('are accepted after another was ended, whose id stays ended', async () => {
    let at = 0
    const app = await start({ now: () => at, limits: { maxSessionsPerServer: 2 } })
    const [ended] = [await beginSession(app, server.id), await beginSession(app, server.id)]
    await send(app, { method: 'DELETE', path: `/s/${server.id}`, headers: ended })
    expect((await post(app, server.id, INITIALIZE('2025-11-25'))).status).toBe(200)
    expect((await post(app, server.id, INITIALIZE('2025-11-25'))).status).toBe(503)
    at += HOUR
    expect((await post(app, server.id, INITIALIZE('2025-11-25'))).status).toBe(200)
    expect((await post(app, server.id, ping, ended)).status).toBe(404)
  })

  it('of one server do not affect another', async () => {
    const other = makeServer()
    const app = await start({ servers: [server, other], limits: { maxSessionsPerServer: 1 } })
    await beginSession(app, server.id)
    await beginSession(app, other.id)
    expect((await post(app, server.id, INITIALIZE('2025-11-25'))).status).toBe(503)
  })
})
