import { randomBytes } from 'node:crypto'
import { describe, expect, it } from 'vitest'
import { answerHolderOf } from '../../../src/results/cut-cache/cache-key.ts'
import { ABOUT, ANYONE, createCacheWorld, findText, KIBIBYTE, keep, MINUTE_MS, newHolder } from './cache-world.ts'

const SERVER = 'server-1'

const contents: [string, string | Uint8Array][] = [
  ['nothing', ''],
  ['text', 'naïve 🧵'],
  ['bytes that are no UTF-8', Uint8Array.from([0, 255, 254, 10, 13, 192])],
  ['a part of other bytes', new Uint8Array([1, 2, 3, 4]).subarray(1, 3)],
  ['what goes to disk', randomBytes(700 * KIBIBYTE)],
]

describe('an answer that is kept', () => {
  it.each(contents)('is found by its holder as it was, with what was said of it: %s', async (_what, content) => {
    const { cache } = createCacheWorld()
    const holder = newHolder()
    const cacheId = await keep(cache, SERVER, holder, content)
    const found = await cache.find(SERVER, holder, cacheId)
    expect(found?.bytes.equals(Buffer.from(content))).toBe(true)
    expect(found?.about).toEqual(ABOUT)
  })

  it('has an id of 22 base64url characters, and each another', async () => {
    const { cache } = createCacheWorld()
    const ids = await Promise.all(Array.from({ length: 50 }, () => keep(cache, SERVER, ANYONE, 'same')))
    for (const id of ids) expect(id).toMatch(/^[A-Za-z0-9_-]{22}$/)
    expect(new Set(ids).size).toBe(50)
  })

  it.each([100, 700 * KIBIBYTE])(
    'is everybody’s own who finds it, of %i bytes: what one does to it no other sees',
    async size => {
      const { cache } = createCacheWorld()
      const content = Buffer.alloc(size, 'a')
      const cacheId = await keep(cache, SERVER, ANYONE, content)
      content.fill('b')
      for (const found of [await cache.find(SERVER, ANYONE, cacheId), await cache.find(SERVER, ANYONE, cacheId)]) {
        expect(found?.bytes.equals(Buffer.alloc(size, 'a'))).toBe(true)
        found?.bytes.fill('c')
      }
    },
  )

  it.each([100, 700 * KIBIBYTE])('is found by a hundred at once, of %i bytes', async size => {
    const { cache } = createCacheWorld()
    const content = randomBytes(size)
    const cacheId = await keep(cache, SERVER, ANYONE, content)
    const found = await Promise.all(Array.from({ length: 100 }, () => cache.find(SERVER, ANYONE, cacheId)))
    expect(found.every(one => one?.bytes.equals(content))).toBe(true)
    expect(cache.stats()).toMatchObject({ entries: 1, found: 100, missed: 0 })
  })
})

describe('whose an answer is', () => {
  it('is told apart by user, by what they call by, and by neither’s letters running into the other’s', () => {
    const callers = [
      { userId: 'u1', via: 'c1' },
      { userId: 'u1', via: 'c2' },
      { userId: 'u2', via: 'c1' },
      { userId: 'u1c', via: '1' },
      undefined,
    ]
    expect(new Set(callers.map(answerHolderOf)).size).toBe(callers.length)
    expect(answerHolderOf({ userId: 'u1', via: 'c1' })).toBe(answerHolderOf({ userId: 'u1', via: 'c1' }))
    expect(callers.map(answerHolderOf).join()).not.toContain('u1')
  })

  it.each([100, 700 * KIBIBYTE])(
    'decides who finds it, of %i bytes: every other id, caller and server gets the same nothing',
    async size => {
      const { cache, clock } = createCacheWorld()
      const [mine, other] = [newHolder(), newHolder()]
      const content = 'm'.repeat(size)
      const expired = await keep(cache, SERVER, mine, content)
      clock.now += 5 * MINUTE_MS
      const cacheId = await keep(cache, SERVER, mine, content)
      const elsewhere = await keep(cache, 'server-2', ANYONE, content)
      const answers = [
        await cache.find(SERVER, other, cacheId),
        await cache.find(SERVER, ANYONE, cacheId),
        await cache.find('server-2', mine, cacheId),
        await cache.find(SERVER, mine, expired),
        await cache.find(SERVER, mine, 'AAAAAAAAAAAAAAAAAAAAAA'),
        await cache.find(SERVER, ANYONE, elsewhere),
        await cache.find('server-2', mine, elsewhere),
        await cache.find(SERVER, mine, ''),
        await cache.find(SERVER, mine, `${cacheId}=`),
        await cache.find(SERVER, mine, cacheId.repeat(100_000)),
        await cache.find(SERVER, mine, '../../../etc/passwd'),
      ]
      expect(answers).toEqual(answers.map(() => undefined))
      expect(await findText(cache, SERVER, mine, cacheId)).toBe(content)
      expect(await findText(cache, 'server-2', ANYONE, elsewhere)).toBe(content)
    },
  )
})

describe('the time to live of an answer', () => {
  it('is five minutes from its last use', async () => {
    const { cache, clock } = createCacheWorld()
    const cacheId = await keep(cache, SERVER, ANYONE, 'here')
    for (let uses = 0; uses < 4; uses++) {
      clock.now += 5 * MINUTE_MS - 1
      expect(await findText(cache, SERVER, ANYONE, cacheId)).toBe('here')
    }
    clock.now += 5 * MINUTE_MS
    expect(await findText(cache, SERVER, ANYONE, cacheId)).toBeUndefined()
    expect(cache.stats()).toMatchObject({ entries: 0, callers: 0, bytes: 0, memoryBytes: 0, expired: 1 })
  })

  it('is not lengthened by somebody who may not have it', async () => {
    const { cache, clock } = createCacheWorld()
    const mine = newHolder()
    const cacheId = await keep(cache, SERVER, mine, 'here')
    clock.now += 4 * MINUTE_MS
    await cache.find(SERVER, newHolder(), cacheId)
    clock.now += MINUTE_MS
    expect(await findText(cache, SERVER, mine, cacheId)).toBeUndefined()
  })

  it('is over for all that nobody asks for, too', async () => {
    const { cache, clock } = createCacheWorld()
    await keep(cache, SERVER, ANYONE, 'here')
    clock.now += 4 * MINUTE_MS
    await keep(cache, SERVER, ANYONE, 'later')
    clock.now += MINUTE_MS
    await cache.sweep()
    expect(cache.stats()).toMatchObject({ entries: 1, expired: 1 })
  })

  it('does not end early where the clock is set back a little', async () => {
    const { cache, clock } = createCacheWorld()
    const cacheId = await keep(cache, SERVER, ANYONE, 'here')
    clock.now -= 4 * MINUTE_MS
    expect(await findText(cache, SERVER, ANYONE, cacheId)).toBe('here')
    clock.now += 5 * MINUTE_MS
    expect(await findText(cache, SERVER, ANYONE, cacheId)).toBeUndefined()
  })

  it.each([1, -1])('is over where the clock is set by %s hour, and not longer for it', async hours => {
    const { cache, clock } = createCacheWorld()
    const before = await keep(cache, SERVER, ANYONE, 'before')
    clock.now += hours * 60 * MINUTE_MS
    expect(await findText(cache, SERVER, ANYONE, before)).toBeUndefined()
    expect(await findText(cache, SERVER, ANYONE, await keep(cache, SERVER, ANYONE, 'after'))).toBe('after')
  })
})

describe('a server that is dropped', () => {
  it('takes its answers with it, whoever’s they are, and no other’s', async () => {
    const { cache } = createCacheWorld()
    const mine = newHolder()
    const gone = await keep(cache, SERVER, mine, 'a')
    const goneToo = await keep(cache, SERVER, ANYONE, 'b'.repeat(700 * KIBIBYTE))
    const stays = await keep(cache, 'server-2', mine, 'c')
    cache.dropServer(SERVER)
    expect(await findText(cache, SERVER, mine, gone)).toBeUndefined()
    expect(await findText(cache, SERVER, ANYONE, goneToo)).toBeUndefined()
    expect(await findText(cache, 'server-2', mine, stays)).toBe('c')
  })
})

describe('what cannot be kept', () => {
  it('is answered with nothing: larger than a caller may have, or with too much said of it', async () => {
    const { cache } = createCacheWorld({ limits: { maxBytesPerCaller: 100 * KIBIBYTE } })
    expect(await cache.keep({ serverId: SERVER, holder: ANYONE, content: 'x'.repeat(100 * KIBIBYTE), about: {} })).toBe(
      undefined,
    )
    expect(await cache.keep({ serverId: SERVER, holder: ANYONE, content: 'x', about: 'y'.repeat(5_000) })).toBe(
      undefined,
    )
    expect(cache.stats()).toMatchObject({ entries: 0, bytes: 0, refused: 2, kept: 0 })
  })

  it('is everything where there is no room at all, and where the cache is closed', async () => {
    const none = createCacheWorld({ limits: { maxBytes: 0 } }).cache
    expect(await none.keep({ serverId: SERVER, holder: ANYONE, content: '', about: {} })).toBeUndefined()
    const { cache } = createCacheWorld()
    const before = await keep(cache, SERVER, ANYONE, 'x')
    await cache.close()
    expect(await cache.keep({ serverId: SERVER, holder: ANYONE, content: 'x', about: {} })).toBeUndefined()
    expect(await cache.find(SERVER, ANYONE, before)).toBeUndefined()
  })
})
