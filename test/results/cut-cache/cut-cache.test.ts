import { randomBytes } from 'node:crypto'
import { describe, expect, it } from 'vitest'
import { cutResultHolderOf } from '../../../src/results/cut-cache/cache-key.ts'
import { ABOUT, ANYONE, createCacheWorld, KIBIBYTE, MINUTE_MS, newHolder, put, read, readText } from './cache-world.ts'

const SERVER = 'server-1'

const contents: [string, string | Uint8Array][] = [
  ['nothing', ''],
  ['text', 'naïve 🧵'],
  ['bytes that are not UTF-8', Uint8Array.from([0, 255, 254, 10, 13, 192])],
  ['part of other bytes', new Uint8Array([1, 2, 3, 4]).subarray(1, 3)],
  ['a megabyte that cannot be compressed', randomBytes(1_000 * KIBIBYTE)],
]

describe('a cut result', () => {
  it.each(contents)('is read unchanged, with what is known about it: %s', async (_what, content) => {
    const { cache } = createCacheWorld()
    const holder = newHolder()
    const opened = await cache.open(SERVER, holder, await put(cache, SERVER, holder, content))
    expect((await opened?.read())?.equals(Buffer.from(content))).toBe(true)
    expect(opened?.about).toEqual(ABOUT)
  })

  it('has an id of 22 base64url characters of its own', async () => {
    const { cache } = createCacheWorld()
    const ids = await Promise.all(Array.from({ length: 50 }, () => put(cache, SERVER, ANYONE, 'same')))
    for (const id of ids) expect(id).toMatch(/^[A-Za-z0-9_-]{22}$/)
    expect(new Set(ids).size).toBe(50)
  })

  it('is not changed by what its readers do to their copies', async () => {
    const { cache } = createCacheWorld()
    const cacheId = await put(cache, SERVER, ANYONE, 'a'.repeat(100))
    for (let times = 0; times < 2; times++) {
      const bytes = await read(cache, SERVER, ANYONE, cacheId)
      expect(bytes?.toString()).toBe('a'.repeat(100))
      bytes?.fill('c')
    }
  })

  it('is read by a hundred calls at the same time', async () => {
    const { cache } = createCacheWorld()
    const content = randomBytes(100 * KIBIBYTE)
    const cacheId = await put(cache, SERVER, ANYONE, content)
    const found = await Promise.all(Array.from({ length: 100 }, () => read(cache, SERVER, ANYONE, cacheId)))
    expect(found.every(bytes => bytes?.equals(content))).toBe(true)
  })

  it('takes as much memory as it does compressed', async () => {
    const { cache } = createCacheWorld()
    await put(cache, SERVER, ANYONE, JSON.stringify(Array.from({ length: 50_000 }, (_, id) => ({ id, note: 'usual' }))))
    expect(cache.stats().size).toBeLessThan(500 * KIBIBYTE)
  })
})

describe('the holder of a cut result', () => {
  it('differs by user and by token or application, unambiguously, and reveals neither', () => {
    const callers = [
      { userId: 'u1', via: 'c1' },
      { userId: 'u1', via: 'c2' },
      { userId: 'u2', via: 'c1' },
      { userId: 'u1c', via: '1' },
      undefined,
    ]
    expect(new Set(callers.map(cutResultHolderOf)).size).toBe(callers.length)
    expect(cutResultHolderOf({ userId: 'u1', via: 'c1' })).toBe(cutResultHolderOf({ userId: 'u1', via: 'c1' }))
    expect(callers.map(cutResultHolderOf).join()).not.toContain('u1')
  })

  it('alone can open it: every other id, holder and server finds nothing', async () => {
    const { cache, clock } = createCacheWorld()
    const [mine, other] = [newHolder(), newHolder()]
    const expired = await put(cache, SERVER, mine, 'mine')
    clock.now += 5 * MINUTE_MS + 1
    const cacheId = await put(cache, SERVER, mine, 'mine')
    const elsewhere = await put(cache, 'server-2', ANYONE, 'for all')
    const opened = [
      await cache.open(SERVER, other, cacheId),
      await cache.open(SERVER, ANYONE, cacheId),
      await cache.open('server-2', mine, cacheId),
      await cache.open(SERVER, mine, expired),
      await cache.open(SERVER, mine, 'AAAAAAAAAAAAAAAAAAAAAA'),
      await cache.open(SERVER, ANYONE, elsewhere),
      await cache.open('server-2', mine, elsewhere),
      await cache.open(SERVER, mine, ''),
      await cache.open(SERVER, mine, `${cacheId}=`),
      await cache.open(SERVER, mine, cacheId.repeat(100_000)),
    ]
    expect(opened).toEqual(opened.map(() => undefined))
    expect(await readText(cache, SERVER, mine, cacheId)).toBe('mine')
    expect(await readText(cache, 'server-2', ANYONE, elsewhere)).toBe('for all')
  })
})

describe('the time to live of a cut result', () => {
  it('is five minutes from its last use', async () => {
    const { cache, clock } = createCacheWorld()
    const cacheId = await put(cache, SERVER, ANYONE, 'here')
    for (let uses = 0; uses < 4; uses++) {
      clock.now += 5 * MINUTE_MS - 1
      expect(await readText(cache, SERVER, ANYONE, cacheId)).toBe('here')
    }
    clock.now += 5 * MINUTE_MS + 1
    expect(await readText(cache, SERVER, ANYONE, cacheId)).toBeUndefined()
    expect(cache.stats()).toEqual({ entries: 0, size: 0, groups: 0 })
  })

  it('is not extended by somebody who may not open it', async () => {
    const { cache, clock } = createCacheWorld()
    const mine = newHolder()
    const cacheId = await put(cache, SERVER, mine, 'here')
    clock.now += 4 * MINUTE_MS
    await cache.open(SERVER, newHolder(), cacheId)
    clock.now += MINUTE_MS + 1
    expect(await readText(cache, SERVER, mine, cacheId)).toBeUndefined()
  })

  it('frees the memory of results that nobody opens again', async () => {
    const { cache, clock } = createCacheWorld()
    await put(cache, SERVER, ANYONE, 'here')
    clock.now += 4 * MINUTE_MS
    await put(cache, SERVER, ANYONE, 'later')
    clock.now += MINUTE_MS + 1
    await cache.purge()
    expect(cache.stats()).toMatchObject({ entries: 1 })
  })
})

describe('a cache that is full', () => {
  const limits = { maxBytes: 400 * KIBIBYTE }
  const large = () => randomBytes(30 * KIBIBYTE)

  it('evicts the results that were not used for longest, and stays within its limit', async () => {
    const { cache } = createCacheWorld({ limits })
    const holders = Array.from({ length: 20 }, newHolder)
    const ids: string[] = []
    for (const holder of holders) {
      ids.push(await put(cache, SERVER, holder, large()))
      expect(cache.stats().size).toBeLessThanOrEqual(limits.maxBytes)
      expect(await read(cache, SERVER, holders[0] ?? '', ids[0] ?? '')).toBeDefined()
    }
    expect(await read(cache, SERVER, holders[1] ?? '', ids[1] ?? '')).toBeUndefined()
    expect(await read(cache, SERVER, holders[19] ?? '', ids[19] ?? '')).toBeDefined()
  })

  it('evicts only results of the caller who has a quarter of it, by whatever tokens', async () => {
    const { cache } = createCacheWorld({ limits })
    const [quiet, elsewhere] = [newHolder(), await put(cache, 'server-2', ANYONE, 'for all')]
    const mine = await put(cache, SERVER, quiet, 'quiet')
    for (let times = 0; times < 20; times++) {
      await put(cache, SERVER, cutResultHolderOf({ userId: 'busy', via: `token ${times}` }), large())
      await put(cache, SERVER, ANYONE, large())
    }
    expect(cache.stats()).toMatchObject({ groups: 4, entries: 8 })
    expect(await readText(cache, SERVER, quiet, mine)).toBe('quiet')
    expect(await readText(cache, 'server-2', ANYONE, elsewhere)).toBe('for all')
  })

  it('does not store a result that is larger than what one caller may have', async () => {
    const { cache } = createCacheWorld({ limits })
    const small = await put(cache, SERVER, ANYONE, 'small')
    const result = { serverId: SERVER, holder: ANYONE, content: randomBytes(100 * KIBIBYTE), about: {} }
    expect(await cache.put(result)).toBeUndefined()
    expect(await readText(cache, SERVER, ANYONE, small)).toBe('small')
  })

  it('stores nothing if its limit is 0', async () => {
    const { cache } = createCacheWorld({ limits: { maxBytes: 0 } })
    expect(await cache.put({ serverId: SERVER, holder: ANYONE, content: Buffer.of(), about: {} })).toBeUndefined()
  })
})

it('deletes the results of a removed server, and no others', async () => {
  const { cache } = createCacheWorld()
  const mine = newHolder()
  const gone = await put(cache, SERVER, mine, 'a')
  const goneToo = await put(cache, SERVER, ANYONE, 'b')
  const stays = await put(cache, 'server-2', mine, 'c')
  cache.delete(SERVER)
  expect(await readText(cache, SERVER, mine, gone)).toBeUndefined()
  expect(await readText(cache, SERVER, ANYONE, goneToo)).toBeUndefined()
  expect(await readText(cache, 'server-2', mine, stays)).toBe('c')
})

it('neither stores nor finds anything after it was closed', async () => {
  const { cache } = createCacheWorld()
  const before = await put(cache, SERVER, ANYONE, 'x')
  await cache.close()
  expect(await cache.put({ serverId: SERVER, holder: ANYONE, content: Buffer.of(1), about: {} })).toBeUndefined()
  expect(await cache.open(SERVER, ANYONE, before)).toBeUndefined()
})
