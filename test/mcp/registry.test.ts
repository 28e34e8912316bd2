import { randomUUID } from 'node:crypto'
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { createMcpRegistry } from '../../src/mcp/registry/registry.ts'
import type { CompiledServer } from '../../src/runtime/call/compiled-server.ts'
import { makeServer, makeTool, startTestApp, text } from './support.ts'
import { callStateless, nextMessage, openStream, POST_HEADERS, replyOf, statelessRequest } from './wire.ts'

type Build = { serverId: string; answer: (server: CompiledServer | undefined) => void; fail: (error: Error) => void }

/** Creates a registry whose builds finish when the test decides. */
const createBuilds = (options: { idleMs?: number; maxMounted?: number; now?: () => number } = {}) => {
  const builds: Build[] = []
  const faults: string[] = []
  const registry = createMcpRegistry({
    compile: serverId => {
      const { promise, resolve, reject } = Promise.withResolvers<CompiledServer | undefined>()
      builds.push({ serverId, answer: resolve, fail: reject })
      return promise
    },
    serverInfo: { name: 'patchbay', version: '0' },
    now: options.now ?? Date.now,
    idleMs: options.idleMs ?? 60_000,
    maxMounted: options.maxMounted ?? 100,
    logger: { error: (_details, message) => void faults.push(message), warn: () => {} },
  })
  const build = (index: number): Build => {
    const found = builds[index]
    if (found === undefined) throw new Error(`there was no build ${index}`)
    return found
  }
  const started = (index: number) => vi.waitUntil(() => builds.length > index)
  return { registry, builds, build, started, faults }
}

const server = makeServer()
const named = (name: string): CompiledServer => ({ ...server, name })

describe('the first use of a server', () => {
  it('mounts it once, however many requests wait for it', async () => {
    const { registry, builds, build } = createBuilds()
    const waiting = [registry.find(server.id), registry.find(server.id), registry.find(server.id)]
    build(0).answer(server)
    const found = await Promise.all(waiting)
    expect(new Set(found).size).toBe(1)
    expect(builds).toHaveLength(1)
    expect(registry.find(server.id)).toBe(found[0])
  })

  it('that fails is reported to all waiting requests and to those right after it; later ones try again', async () => {
    let at = 1
    const { registry, builds, build } = createBuilds({ now: () => at })
    const waiting = [registry.find(server.id), registry.find(server.id)]
    build(0).fail(new Error('no database'))
    for (const one of waiting) await expect(one).rejects.toThrow('no database')
    await expect(registry.find(server.id)).rejects.toThrow('a moment ago')
    expect(builds).toHaveLength(1)
    at += 2_001
    const again = registry.find(server.id)
    build(1).answer(server)
    expect(await again).toBeDefined()
    expect(builds).toHaveLength(2)
  })

  it('is tried again right after a change if it failed', async () => {
    const { registry, build } = createBuilds()
    const first = registry.find(server.id)
    build(0).fail(new Error('no database'))
    await expect(first).rejects.toThrow('no database')
    await registry.refresh(server.id)
    const again = registry.find(server.id)
    build(1).answer(server)
    expect(await again).toBeDefined()
  })

  it('is followed by another build if something changes meanwhile, even if it fails', async () => {
    const { registry, build, started } = createBuilds()
    const first = registry.find(server.id)
    const refreshed = registry.refresh(server.id)
    const second = registry.find(server.id)
    build(0).fail(new Error('no database'))
    await expect(first).rejects.toThrow('no database')
    await started(1)
    build(1).answer(named('new'))
    await refreshed
    expect((await second)?.router.server.name).toBe('new')
  })
})

describe('an unknown server', () => {
  it('is looked up once in a while, not with every request', async () => {
    let at = 1
    const { registry, builds, build } = createBuilds({ now: () => at })
    const first = registry.find(server.id)
    build(0).answer(undefined)
    expect(await first).toBeUndefined()
    expect(registry.find(server.id)).toBeUndefined()
    at += 10_000
    const later = registry.find(server.id)
    build(1).answer(server)
    expect(await later).toBeDefined()
    expect(builds).toHaveLength(2)
  })

  it('is known as soon as it is created', async () => {
    const { registry, build } = createBuilds()
    const first = registry.find(server.id)
    build(0).answer(undefined)
    await first
    await registry.refresh(server.id)
    const found = registry.find(server.id)
    build(1).answer(server)
    expect(await found).toBeDefined()
  })

  it('is found if it is created during the lookup', async () => {
    const { registry, build, started } = createBuilds()
    const first = registry.find(server.id)
    const refreshed = registry.refresh(server.id)
    build(0).answer(undefined)
    await started(1)
    build(1).answer(server)
    await refreshed
    expect(await first).toBeUndefined()
    expect(registry.find(server.id)).toBeDefined()
  })

  it('needs little memory, however many are requested: the oldest are forgotten', async () => {
    const asked: string[] = []
    const registry = createMcpRegistry({
      compile: async id => {
        asked.push(id)
        return undefined
      },
      serverInfo: { name: 'patchbay', version: '0' },
      now: () => 1,
      idleMs: 60_000,
      maxMounted: 10,
      logger: { error: () => {}, warn: () => {} },
    })
    const ids = Array.from({ length: 1_500 }, () => randomUUID())
    for (const id of ids) expect(await registry.find(id)).toBeUndefined()
    expect(registry.mountedCount()).toBe(0)
    await registry.find(ids.at(-1) ?? '')
    expect(asked).toEqual(ids)
    await registry.find(ids[0] ?? '')
    expect(asked.at(-1)).toBe(ids[0])
  })
})

describe('a change', () => {
  const mounted = async () => {
    const setup = createBuilds()
    const first = setup.registry.find(server.id)
    setup.build(0).answer(named('first'))
    await first
    return { ...setup, nameNow: async () => (await setup.registry.find(server.id))?.router.server.name }
  }

  it('is live when refresh resolves, and not before', async () => {
    const { registry, build, nameNow } = await mounted()
    const refreshed = registry.refresh(server.id)
    expect(await nameNow()).toBe('first')
    build(1).answer(named('second'))
    await refreshed
    expect(await nameNow()).toBe('second')
  })

  it('that cannot be built leaves the previous state live, and is logged', async () => {
    const { registry, build, faults, nameNow } = await mounted()
    const refreshed = registry.refresh(server.id)
    build(1).fail(new Error('broken'))
    await refreshed
    expect(await nameNow()).toBe('first')
    expect(faults).toHaveLength(1)
  })

  it('during a build waits for the next build, which all such changes share', async () => {
    const { registry, builds, build, started, nameNow } = await mounted()
    const older = registry.refresh(server.id)
    let isNewerLive = false
    const newer = Promise.all(Array.from({ length: 9 }, () => registry.refresh(server.id))).then(() => {
      isNewerLive = true
    })
    build(1).answer(named('second'))
    await older
    expect([await nameNow(), isNewerLive]).toEqual(['second', false])
    await started(2)
    build(2).answer(named('third'))
    await newer
    expect(await nameNow()).toBe('third')
    expect(builds).toHaveLength(3)
  })

  it('is built after a failed build', async () => {
    const { registry, build, started, nameNow } = await mounted()
    const [older, newer] = [registry.refresh(server.id), registry.refresh(server.id)]
    build(1).fail(new Error('broken'))
    await older
    await started(2)
    build(2).answer(named('mended'))
    await newer
    expect(await nameNow()).toBe('mended')
  })

  it('waits while two other servers are being built', async () => {
    const { registry, builds, build, started } = createBuilds()
    const servers = [makeServer(), makeServer(), makeServer()]
    const finding = servers.map(({ id }) => registry.find(id))
    expect(builds).toHaveLength(2)
    for (const [index, one] of servers.entries()) {
      await started(index)
      build(index).answer(one)
      expect((await finding[index])?.serverId).toBe(one.id)
    }
  })

  it('of an unmounted server builds nothing', async () => {
    const { registry, builds } = createBuilds()
    await registry.refresh(server.id)
    expect(builds).toHaveLength(0)
  })

  it('that deletes a server makes it unknown', async () => {
    const { registry, build } = await mounted()
    const refreshed = registry.refresh(server.id)
    build(1).answer(undefined)
    await refreshed
    expect(registry.find(server.id)).toBeUndefined()
    expect(registry.mountedCount()).toBe(0)
  })

  it('that may have been missed is made up for on every mounted server', async () => {
    const { registry, builds, build, nameNow } = await mounted()
    const caughtUp = registry.invalidateAll()
    build(1).answer(named('caught up'))
    await caughtUp
    expect(await nameNow()).toBe('caught up')
    expect(builds).toHaveLength(2)
  })
})

describe('unmounting', () => {
  beforeEach(() => {
    vi.useFakeTimers()
  })
  afterEach(() => {
    vi.useRealTimers()
  })

  const mountAll = async (
    registry: ReturnType<typeof createBuilds>['registry'],
    servers: readonly CompiledServer[],
    build: (index: number) => Build,
  ) => {
    for (const [index, one] of servers.entries()) {
      const found = registry.find(one.id)
      build(index).answer(one)
      await found
      vi.advanceTimersByTime(1)
    }
  }

  it('happens to a server that was unused for the idle timeout', async () => {
    const { registry, build } = createBuilds({ idleMs: 10_000 })
    const servers = [makeServer(), makeServer()]
    await mountAll(registry, servers, build)
    vi.advanceTimersByTime(8_000)
    registry.find(servers[1]?.id ?? '')
    vi.advanceTimersByTime(8_000)
    expect(registry.mountedCount()).toBe(1)
    vi.advanceTimersByTime(20_000)
    expect(registry.mountedCount()).toBe(0)
    registry.close()
  })

  it('happens to the least recently used servers if there are too many', async () => {
    const { registry, build, builds } = createBuilds({ maxMounted: 10 })
    const servers = Array.from({ length: 11 }, () => makeServer())
    await mountAll(registry, servers, build)
    expect(registry.mountedCount()).toBe(10)
    for (const { id } of servers.slice(1)) expect(registry.find(id)).not.toBeInstanceOf(Promise)
    expect(registry.find(servers[0]?.id ?? '')).toBeInstanceOf(Promise)
    expect(builds).toHaveLength(12)
    registry.close()
  })
})

describe('a server with an open stream', () => {
  it('is never unmounted to make room', async () => {
    const servers = Array.from({ length: 12 }, () => makeServer())
    const [first] = servers
    if (first === undefined) throw new Error('no servers')
    const app = await startTestApp({ servers, maxMounted: 3 })
    const { body, headers } = statelessRequest('subscriptions/listen', { notifications: { toolsListChanged: true } })
    const all = { ...POST_HEADERS, ...headers }
    const stream = await openStream(app, { method: 'POST', path: `/s/${first.id}`, headers: all, body })
    await nextMessage(stream)
    for (const { id } of servers.slice(1)) await callStateless(app, id, 'server/discover')
    app.servers.set(first.id, { ...first, tools: [] })
    await app.registry.refresh(first.id)
    expect(await nextMessage(stream)).toMatchObject({ method: 'notifications/tools/list_changed' })
    stream.close()
    await app.close()
  })
})

describe('running calls', () => {
  it('finish on the router that they started with, during 200 changes and more calls', async () => {
    const release = Promise.withResolvers<void>()
    const started = Promise.withResolvers<void>()
    const old = makeTool('old', {
      call: async () => {
        started.resolve()
        await release.promise
        return text('from before')
      },
    })
    const app = await startTestApp({ servers: [{ ...server, tools: [old] }] })
    const early = callStateless(app, server.id, 'tools/call', { name: 'old' })
    await started.promise
    const calls: Promise<string>[] = []
    for (let version = 0; version < 200; version++) {
      const echo = makeTool('echo', { call: async () => text(`version ${version}`) })
      app.servers.set(server.id, { ...server, tools: [echo] })
      await app.registry.refresh(server.id)
      calls.push(callStateless(app, server.id, 'tools/call', { name: 'echo' }).then(response => response.text))
    }
    for (const [version, answer] of (await Promise.all(calls)).entries()) {
      const live = Number(/version (\d+)/.exec(answer)?.[1])
      expect(live).toBeGreaterThanOrEqual(version)
    }
    release.resolve()
    expect(replyOf(await early).result).toMatchObject({ content: [{ text: 'from before' }] })
    expect(replyOf(await callStateless(app, server.id, 'tools/call', { name: 'old' })).error).toMatchObject({
      code: -32602,
    })
    await app.close()
  })

  it('that reject result in an internal error and a log entry', async () => {
    const breaking = makeTool('breaking', { call: async () => Promise.reject(new Error('secret detail')) })
    const app = await startTestApp({ servers: [{ ...server, tools: [breaking] }] })
    const response = await callStateless(app, server.id, 'tools/call', { name: 'breaking' })
    expect(replyOf(response).error).toEqual({
      code: -32603,
      message: 'Internal error',
      data: { requestId: response.headers['x-request-id'] },
    })
    expect(app.faults).toHaveLength(1)
    await app.close()
  })
})
