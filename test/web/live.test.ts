import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client'
import { afterAll, describe, expect, it, onTestFinished, vi } from 'vitest'
import { z } from 'zod'
import { createCallFigureStore } from '../../src/history/call-figures.store.ts'
import type { ExecutionRecord } from '../../src/history/execution-record.ts'
import type { Database } from '../../src/lib/db/client.ts'
import { createEventBus } from '../../src/lib/events/event-bus.ts'
import { createLiveStreams } from '../../src/web/live/live-streams.ts'
import { createServerWatches, type WatchEvent } from '../../src/web/live/server-watch.ts'
import { buildExecution } from '../history/execution.ts'
import { createHistoryWorld } from '../history/history-world.ts'
import { callText } from '../servers/mcp.ts'
import { makeServer, signUp } from '../support/api-client.ts'
import { startTestApp } from '../support/app.ts'
import { createBrowser } from '../support/browser.ts'
import { databasesOfRun } from '../support/databases.ts'
import { anyDatabase, runFakeApi, runPatchbay } from '../support/world.ts'
import { callsOf, readEvents, Text } from './event-reader.ts'

const PASSWORD = 'correct horse battery staple'
const MAX_PER_SIGN_IN = 8
const MAX_PER_USER = 32

/** Inserts a call as another process would, without notifying this process. */
const insertCall = async (db: Database, serverId: string, changes: Partial<ExecutionRecord>): Promise<string> => {
  const { id, tool, startedAt, durationMs, outcome, status = null } = buildExecution(serverId, changes)
  const bytes = { requestBytes: 0, responseBytes: 0 }
  await db.execution.create({ data: { id, serverId, tool, startedAt, durationMs, outcome, status, ...bytes } })
  return id
}

// Most of these tests wait for the next read of the history, so they run at once.
describe.each(databasesOfRun)('the live stream of a server on $kind', kind => {
  const patchbay = runPatchbay({ kind })
  const fake = runFakeApi()

  const makeWorld = async () => {
    const owner = await signUp(patchbay.origin)
    const made = await makeServer(owner, [
      { name: 'get_thing', method: 'GET', url: `${fake.origin}/things/{{id}}` },
      { name: 'get_other', method: 'GET', url: `${fake.origin}/others` },
    ])
    const browser = createBrowser(patchbay.origin)
    await browser.signIn(owner.email, PASSWORD)
    await browser.loadCsrfToken()
    return { owner, browser, ...made }
  }
  type World = Awaited<ReturnType<typeof makeWorld>>

  const cookieOf = ({ cookies }: ReturnType<typeof createBrowser>): Record<string, string> => ({
    cookie: [...cookies].map(pair => pair.join('=')).join('; '),
  })
  const ends: (() => void)[] = []
  afterAll(() => {
    for (const end of ends) end()
  })
  const watch = async (serverId: string, headers: Record<string, string>) => {
    const stream = await readEvents(`${patchbay.origin}/servers/${serverId}/live`, headers)
    ends.push(stream.close)
    return stream
  }
  /** Connects the official client for one call. */
  const call = async (url: string, tool: string, args?: Record<string, unknown>, token?: string): Promise<void> => {
    const client = new Client({ name: 'test', version: '1.0.0' })
    const headers = token === undefined ? {} : { authorization: `Bearer ${token}` }
    await client.connect(new StreamableHTTPClientTransport(new URL(url), { requestInit: { headers } }))
    await callText(client, tool, args)
    await client.close()
  }
  const watchAs = (world: World) => watch(world.serverId, cookieOf(world.browser))

  it('ends when the viewer signs out', async () => {
    const world = await makeWorld()
    // The end of a session raises no event, so access is checked again every five seconds. The first stream starts the
    // timer for all, so this test comes first.
    vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval'], shouldClearNativeTimers: true })
    onTestFinished(() => void vi.useRealTimers())
    const stream = await watchAs(world)
    await world.browser.send('DELETE', '/session')
    vi.advanceTimersByTime(5_000)
    await stream.next('over', z.object({}))
    await stream.closed
  })

  it.concurrent('reports a call made by a real client, and then the figures', async () => {
    const world = await makeWorld()
    const stream = await watchAs(world)
    expect(stream.status).toBe(200)
    expect(stream.headers.get('content-type')).toBe('text/event-stream')
    await call(world.url, 'get_thing', { id: '1' })
    const { calls, first } = await stream.next('calls', callsOf('get_thing'))
    expect(calls).toEqual([
      expect.objectContaining({ tool: 'get_thing', state: 'good', outcome: '200 OK', client: 'test/1.0.0' }),
    ])
    expect(first).toMatch(/^First call received: get_thing, 200 OK in .*, from test\/1.0.0\.$/)
    const Figures = z.object({ figures: z.array(z.looseObject({ name: z.string(), text: z.string() })) })
    const { figures } = await stream.next('figures', Figures)
    expect(figures).toContainEqual({ name: 'calls', text: '1', note: '', isBad: false })
  })

  it.concurrent('reports a call recorded by another process, each only once', async () => {
    const world = await makeWorld()
    const stream = await watchAs(world)
    const { db } = patchbay.services
    const id = await insertCall(db, world.serverId, { tool: 'from_elsewhere', outcome: 'error', status: 503 })
    const { calls } = await stream.next('calls', callsOf('from_elsewhere'))
    expect(calls).toEqual([expect.objectContaining({ id, state: 'failed', outcome: '503 Service unavailable' })])
    await insertCall(db, world.serverId, { tool: 'the_next' })
    expect((await stream.next('calls', callsOf('the_next'))).calls).toHaveLength(1)
  })

  it.concurrent('starts with the newest calls, so that none is lost between the page and the stream', async () => {
    const world = await makeWorld()
    await call(world.url, 'get_other')
    await patchbay.services.recorder.flush()
    const [first, second] = [await watchAs(world), await watchAs(world)]
    await first.next('calls', callsOf('get_other'))
    await second.next('calls', callsOf('get_other'))
  })

  it.concurrent('reports the number of open client connections, and when a change is live', async () => {
    const world = await makeWorld()
    const stream = await watchAs(world)
    const controller = new AbortController()
    ends.push(() => controller.abort())
    expect(await stream.next('connections', Text)).toMatchObject({ text: 'Online · 0 connections', state: 'idle' })
    await fetch(`${world.url}/sse`, { headers: { accept: 'text/event-stream' }, signal: controller.signal })
    expect(await stream.next('connections', Text)).toMatchObject({ text: 'Online · 1 connection', state: 'good' })
    const later = await watchAs(world)
    expect(await later.next('connections', Text)).toMatchObject({ text: 'Online · 1 connection', state: 'good' })
    await world.owner.expectOk('PATCH', `/servers/${world.serverId}`, { description: 'Changed' })
    expect(await stream.next('changed', Text)).toMatchObject({ text: 'Changed just now. Online · 1 connection' })
    controller.abort()
    expect(await stream.next('connections', Text)).toMatchObject({ text: 'Online · 0 connections', state: 'idle' })
  })

  it.concurrent('is available only to users who may see the server', async () => {
    const { serverId, owner } = await makeWorld()
    const stranger = await signUp(patchbay.origin)
    const asToken = (token: string | undefined) => ({ authorization: `Bearer ${token}` })
    expect((await watch(serverId, {})).status).toBe(303)
    expect((await watch(serverId, asToken(stranger.token))).status).toBe(404)
    expect((await watch('11111111-1111-4111-8111-111111111111', asToken(owner.token))).status).toBe(404)
    expect((await watch(serverId, asToken(owner.token))).status).toBe(200)
    const head = await fetch(`${patchbay.origin}/servers/${serverId}/live`, {
      method: 'HEAD',
      headers: asToken(owner.token),
    })
    expect(head.status).toBe(200)
  })

  it.concurrent('reports only their own calls, and no connections, to a user whom the owner allows on a private server, until access ends', async ({
    onTestFinished,
  }) => {
    const world = await makeWorld()
    const allowed = await signUp(patchbay.origin)
    const { organizationId } = await patchbay.services.db.server.findUniqueOrThrow({ where: { id: world.serverId } })
    await patchbay.services.db.membership.create({ data: { organizationId, userId: allowed.userId, role: 'viewer' } })
    const change = { access: 'private', allowedUsers: [allowed.userId] }
    await world.owner.expectOk('PATCH', `/servers/${world.serverId}`, change)
    const stream = await watch(world.serverId, { authorization: `Bearer ${allowed.token}` })
    const all = await watchAs(world)
    const controller = new AbortController()
    onTestFinished(() => controller.abort())
    const sse = { accept: 'text/event-stream', authorization: `Bearer ${world.owner.token}` }
    await fetch(`${world.url}/sse`, { headers: sse, signal: controller.signal })
    await all.next('connections', z.object({ text: z.literal('Online · 1 connection') }))
    await call(world.url, 'get_other', {}, world.owner.token)
    await all.next('calls', callsOf('get_other'))
    await call(world.url, 'get_thing', { id: '1' }, allowed.token)
    const { calls } = await stream.next('calls', callsOf('get_thing'))
    expect(stream.seen.map(({ event }) => event)).not.toContain('calls')
    expect(calls).toEqual([expect.objectContaining({ tool: 'get_thing' })])
    await world.owner.expectOk('PATCH', `/servers/${world.serverId}`, { description: 'Changed' })
    expect(await stream.next('changed', Text)).toMatchObject({ text: 'Changed just now. Online' })
    expect(stream.seen.map(({ event }) => event)).not.toContain('connections')
    await world.owner.expectOk('PATCH', `/servers/${world.serverId}`, { allowedUsers: [] })
    await stream.next('over', z.object({}))
    await stream.closed
  })

  it.concurrent('ends when the viewer leaves the organization', async () => {
    const world = await makeWorld()
    const { db } = patchbay.services
    const { organizationId } = await db.server.findUniqueOrThrow({ where: { id: world.serverId } })
    const colleague = await signUp(patchbay.origin)
    await db.membership.create({ data: { organizationId, userId: colleague.userId, role: 'viewer' } })
    const stream = await watch(world.serverId, { authorization: `Bearer ${colleague.token}` })
    const stays = await watchAs(world)
    await world.owner.expectOk('DELETE', `/organizations/${organizationId}/members/${colleague.userId}`)
    await stream.next('over', z.object({}))
    await stream.closed
    await call(world.url, 'get_other')
    await stays.next('calls', callsOf('get_other'))
  })

  it.concurrent('ends when the server is deleted', async () => {
    const world = await makeWorld()
    const stream = await watchAs(world)
    await world.owner.expectOk('DELETE', `/servers/${world.serverId}`)
    await stream.next('over', z.object({}))
    await stream.closed
  })

  it('limits the open pages per browser, and allows another when one is closed', async () => {
    const world = await makeWorld()
    const streams = []
    for (let count = 0; count < MAX_PER_SIGN_IN; count++) streams.push(await watchAs(world))
    expect(streams.map(({ status }) => status)).toEqual(streams.map(() => 200))
    expect((await watchAs(world)).status).toBe(429)
    const colleague = await watch(world.serverId, { authorization: `Bearer ${world.owner.token}` })
    expect(colleague.status).toBe(200)
    streams[0]?.close()
    await expect.poll(async () => (await watchAs(world)).status).toBe(200)
  })

  it('limits the open pages per user across all browsers', async () => {
    const world = await makeWorld()
    const signInAgain = async () => {
      const browser = createBrowser(patchbay.origin)
      await browser.signIn(world.owner.email, PASSWORD)
      return cookieOf(browser)
    }
    const statuses: number[] = []
    for (let count = 0; count < MAX_PER_USER / MAX_PER_SIGN_IN; count++) {
      const cookie = await signInAgain()
      for (let page = 0; page < MAX_PER_SIGN_IN; page++) statuses.push((await watch(world.serverId, cookie)).status)
    }
    expect(statuses).toEqual(Array.from({ length: MAX_PER_USER }, () => 200))
    expect((await watch(world.serverId, await signInAgain())).status).toBe(429)
    expect((await watchAs(await makeWorld())).status).toBe(200)
  })
})

describe('a live stream', () => {
  it('ends at once if its viewer lost access while it was being opened', async () => {
    // Without timers, only the check when it is added can end it.
    vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval'] })
    onTestFinished(() => void vi.useRealTimers())
    const bus = createEventBus({ logger: { error: () => {} } })
    const streams = createLiveStreams({ bus, onChanged: () => {} })
    const ended = Promise.withResolvers<void>()
    const sent: string[] = []
    const stream = { send: (event: string) => void sent.push(event), beat: () => {}, end: ended.resolve }
    const viewer = { serverId: 's', callerId: 'u', userId: 'u', signInId: 'u', mayStay: async () => false }
    onTestFinished(streams.add(viewer, stream))
    await ended.promise
    expect(sent).toEqual(['over'])
  })
})

describe('stopping Patchbay', () => {
  it('ends the live streams immediately, and opens no new ones', async () => {
    const app = await startTestApp()
    onTestFinished(() => app.close())
    const owner = await signUp(app.origin)
    const { serverId } = await makeServer(owner, [])
    const headers = { authorization: `Bearer ${owner.token}` }
    const stream = await readEvents(`${app.origin}/servers/${serverId}/live`, headers)
    expect(stream.status).toBe(200)
    app.app.beginStop()
    await stream.closed
    expect(stream.seen.map(({ event }) => event)).not.toContain('over')
    expect((await readEvents(`${app.origin}/servers/${serverId}/live`, headers)).status).toBe(503)
  })
})

describe('the server watches', () => {
  it('read the history once for all listeners, and not at all without any', async () => {
    const world = await createHistoryWorld(anyDatabase)
    const { serverId } = world
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'performance'] })
    onTestFinished(() => void vi.useRealTimers())
    const lengthsLater = async (): Promise<number[]> => {
      await vi.advanceTimersByTimeAsync(1_000)
      return received.map(events => events.length)
    }
    const { executions } = world
    const figures = createCallFigureStore(world.db)
    const reads: string[] = []
    const readsOf = (id: string): number => reads.filter(read => read === id).length
    const watches = createServerWatches({
      listNewest: async ({ serverId: id, callerId }) => {
        reads.push(id)
        return (await executions.list({ serverId: id, callerId }, { limit: 20 })).items
      },
      readFigures: watched => figures.ofServer(watched, new Date()),
      openStreams: () => 0,
      upstreamStates: () => '',
      onTrouble: error => {
        throw error
      },
    })

    await insertCall(world.db, serverId, {})
    /** The events of each listener, with the number of reads at that time. */
    const received: [WatchEvent['type'], number][][] = [[], []]
    const all = { serverId, callerId: undefined }
    const stops = received.map(events => watches.watch(all, ({ type }) => events.push([type, readsOf(serverId)])))
    await expect.poll(() => received.map(events => events.length)).toEqual([4, 4])
    expect(received[0]?.slice(2)).toEqual([
      ['calls', 1],
      ['figures', 1],
    ])
    await insertCall(world.db, serverId, {})
    await expect.poll(lengthsLater).toEqual([5, 5])
    expect(received[0]?.[4]?.[0]).toBe('calls')
    expect(received[1]?.slice(2)).toEqual(received[0]?.slice(2))

    for (const stop of stops) stop()
    expect(watches.watchedCount()).toBe(0)
    const before = readsOf(serverId)
    const stop = watches.watch({ serverId: 'another', callerId: undefined }, () => {})
    await expect
      .poll(async () => {
        await vi.advanceTimersByTimeAsync(1_000)
        return readsOf('another')
      })
      .toBeGreaterThan(2)
    stop()
    expect(readsOf(serverId)).toBe(before)
  })
})
