import { randomBytes } from 'node:crypto'
import { rmSync } from 'node:fs'
import { Client } from 'pg'
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest'
import { type OpenDatabase, openDatabase } from '../../../src/lib/db/client.ts'
import type { AnswerCache } from '../../../src/results/cut-cache/cut-cache.ts'
import { createSharedAnswerStore } from '../../../src/results/cut-cache/cut-results.store.ts'
import { createServer } from '../../history/history-world.ts'
import { databaseKinds, type TestDatabase } from '../../support/databases.ts'
import {
  ABOUT,
  ANYONE,
  type CacheOptions,
  createCacheWorld,
  findText,
  KIBIBYTE,
  keep,
  listFiles,
  MINUTE_MS,
  makeDirectory,
  newHolder,
} from './cache-world.ts'

const postgres = databaseKinds.find(({ kind }) => kind === 'postgresql')
if (postgres === undefined) throw new Error('there is no database to test on')

describe.each(databaseKinds)('a cache of answers on $kind', ({ kind, create }) => {
  it(kind === 'sqlite' ? 'writes nothing to the database' : 'writes what it keeps to the database', async () => {
    const database = await create()
    onTestFinished(database.drop)
    const db = await openDatabase(database.target)
    onTestFinished(db.close)
    const { cache } = createCacheWorld({ store: createSharedAnswerStore(db) })
    const serverId = await createServer(db)
    const cacheId = await keep(cache, serverId, ANYONE, 'here')
    await cache.settle()
    expect(await db.cachedAnswer.count()).toBe(kind === 'sqlite' ? 0 : 1)
    expect(await findText(cache, serverId, ANYONE, cacheId)).toBe('here')
    await cache.sweep()
    cache.dropServer(serverId)
    await cache.settle()
    expect(await db.cachedAnswer.count()).toBe(0)
  })
})

describe('two processes that share PostgreSQL', () => {
  let database: TestDatabase
  let db: OpenDatabase
  let otherDb: OpenDatabase
  beforeAll(async () => {
    database = await postgres.create()
    db = await openDatabase(database.target)
    otherDb = await openDatabase(database.target)
  })
  afterAll(async () => {
    await db.close()
    await otherDb.close()
    await database.drop()
  })

  /** Two caches, each with a connection and a directory of its own, and one server. */
  const open = async (options: CacheOptions = {}) => {
    const world = createCacheWorld({ store: createSharedAnswerStore(db), ...options })
    const other = world.open({ store: createSharedAnswerStore(otherDb), directory: makeDirectory() })
    return { ...world, other, serverId: await createServer(db) }
  }
  const keepShared = async (cache: AnswerCache, serverId: string, holder: string, content: string | Uint8Array) => {
    const cacheId = await keep(cache, serverId, holder, content)
    await cache.settle()
    return cacheId
  }
  const countRows = (serverId: string): Promise<number> => db.cachedAnswer.count({ where: { serverId } })

  it('finds for one what was kept there, while another guesses ids by the hundred', async () => {
    const { cache, other, serverId } = await open()
    const [guest, guesser] = [newHolder(), newHolder()]
    const cacheId = await keepShared(cache, serverId, guest, 'here')
    const guesses = Array.from({ length: 400 }, () =>
      other.find(serverId, guesser, randomBytes(16).toString('base64url')),
    )
    expect(await findText(other, serverId, guest, cacheId)).toBe('here')
    expect(await Promise.all(guesses)).toEqual(Array(400).fill(undefined))
    const own = await keepShared(cache, serverId, guesser, 'found after it')
    expect(await findText(other, serverId, guesser, own)).toBe('found after it')
  })

  it.each([
    ['in memory', 'naïve 🧵'],
    ['empty', ''],
    ['on disk', JSON.stringify(Array.from({ length: 20_000 }, (_, id) => ({ id, name: `order ${id}` })))],
    ['that cannot be compressed', randomBytes(2_000 * KIBIBYTE)],
  ])('find each other’s answers, with what was said of them: one %s', async (_what, content) => {
    const { cache, other, serverId } = await open()
    const holder = newHolder()
    const cacheId = await keepShared(cache, serverId, holder, content)
    for (let times = 0; times < 2; times++) {
      const found = await other.find(serverId, holder, cacheId)
      expect(found?.bytes.equals(Buffer.from(content))).toBe(true)
      expect(found?.about).toEqual(ABOUT)
    }
  })

  it('answer every other caller, server and id with the same nothing', async () => {
    const { cache, other, serverId } = await open()
    const elsewhere = await createServer(db)
    const mine = newHolder()
    const cacheId = await keepShared(cache, serverId, mine, 'mine')
    const anyones = await keepShared(cache, serverId, ANYONE, 'for all')
    for (const one of [cache, other]) {
      const answers = [
        await one.find(serverId, newHolder(), cacheId),
        await one.find(serverId, ANYONE, cacheId),
        await one.find(elsewhere, mine, cacheId),
        await one.find(elsewhere, ANYONE, anyones),
        await one.find(serverId, mine, anyones),
        await one.find(serverId, mine, 'AAAAAAAAAAAAAAAAAAAAAA'),
      ]
      expect(answers).toEqual(answers.map(() => undefined))
      expect(await findText(one, serverId, mine, cacheId)).toBe('mine')
      expect(await findText(one, serverId, ANYONE, anyones)).toBe('for all')
    }
  })

  it('have neither ids nor answers in the database as they are', async () => {
    const { cache, serverId } = await open()
    const cacheId = await keepShared(cache, serverId, newHolder(), 'canary '.repeat(1_000))
    const rows = await db.cachedAnswer.findMany({ where: { serverId } })
    expect(rows).toHaveLength(1)
    expect(JSON.stringify(rows)).not.toContain(cacheId)
  })

  it('find for a hundred calls at once what only the other has, and from then on have it', async () => {
    const { cache, other, serverId } = await open()
    const cacheId = await keepShared(cache, serverId, ANYONE, 'here')
    const found = await Promise.all(Array.from({ length: 100 }, () => findText(other, serverId, ANYONE, cacheId)))
    expect(new Set(found)).toEqual(new Set(['here']))
    expect(other.stats()).toMatchObject({ entries: 1, found: 100 })
    await db.cachedAnswer.deleteMany({ where: { serverId } })
    expect(await findText(other, serverId, ANYONE, cacheId)).toBe('here')
  })

  it('have of each other what one of them has lost, also when that shows only as it is read', async () => {
    const { cache, directory, serverId } = await open()
    const content = 'l'.repeat(700 * KIBIBYTE)
    const cacheId = await keepShared(cache, serverId, ANYONE, content)
    const opened = await cache.open(serverId, ANYONE, cacheId)
    for (const file of listFiles(directory)) rmSync(file)
    expect((await opened?.read())?.toString()).toBe(content)
    expect(listFiles(directory)).toHaveLength(1)
  })

  it('begin its time to live anew with its use at either', async () => {
    const { cache, other, clock, serverId } = await open()
    const cacheId = await keepShared(cache, serverId, ANYONE, 'here')
    for (const one of [other, cache, other, cache]) {
      clock.now += 5 * MINUTE_MS - 1
      expect(await findText(one, serverId, ANYONE, cacheId)).toBe('here')
      await one.settle()
    }
    // Kept at the other since long ago, and used there no more: it has been here meanwhile.
    clock.now += 4 * MINUTE_MS
    expect(await findText(cache, serverId, ANYONE, cacheId)).toBe('here')
    await cache.settle()
    clock.now += 4 * MINUTE_MS
    expect(await findText(other, serverId, ANYONE, cacheId)).toBe('here')
    await other.settle()
    clock.now += 5 * MINUTE_MS
    expect(await findText(cache, serverId, ANYONE, cacheId)).toBeUndefined()
    expect(await findText(other, serverId, ANYONE, cacheId)).toBeUndefined()
  })

  it('count a use that comes before the answer is written', async () => {
    const { cache, other, clock, serverId } = await open()
    const cacheId = await keep(cache, serverId, ANYONE, 'here')
    clock.now += 4 * MINUTE_MS
    expect(await findText(cache, serverId, ANYONE, cacheId)).toBe('here')
    await cache.settle()
    clock.now += 4 * MINUTE_MS
    expect(await findText(other, serverId, ANYONE, cacheId)).toBe('here')
  })

  it('lose what the one that got it has to let go of, but for those that have it by now', async () => {
    const { cache, other, serverId } = await open({ limits: { maxEntriesPerCaller: 1 } })
    const holder = newHolder()
    const first = await keepShared(cache, serverId, holder, 'first')
    expect(await findText(other, serverId, holder, first)).toBe('first')
    await keep(cache, serverId, holder, 'second')
    const third = await keepShared(cache, serverId, holder, 'third')
    expect(await countRows(serverId)).toBe(1)
    expect(await findText(cache, serverId, holder, first)).toBeUndefined()
    expect(await findText(other, serverId, holder, first)).toBe('first')
    // What the other lets go of is not its own: it stays where it came from.
    expect(await findText(other, serverId, holder, third)).toBe('third')
    expect(await countRows(serverId)).toBe(1)
  })

  it('find what one wrote that has stopped, also what it had not written when it was told to', async () => {
    const { cache, other, serverId } = await open()
    const ids = await Promise.all(
      Array.from({ length: 20 }, (_, index) => keep(cache, serverId, ANYONE, `${index} `.repeat(200 * KIBIBYTE))),
    )
    await cache.close()
    for (const [index, id] of ids.entries()) {
      expect(await findText(other, serverId, ANYONE, id)).toBe(`${index} `.repeat(200 * KIBIBYTE))
    }
  })

  it('keep to themselves what is too large to be written', async () => {
    const { cache, other, serverId } = await open({ limits: { maxSharedBytes: 100 * KIBIBYTE } })
    const content = randomBytes(100 * KIBIBYTE)
    const cacheId = await keepShared(cache, serverId, ANYONE, content)
    expect(await countRows(serverId)).toBe(0)
    expect(await other.find(serverId, ANYONE, cacheId)).toBeUndefined()
    expect((await cache.find(serverId, ANYONE, cacheId))?.bytes.equals(content)).toBe(true)
    expect(cache.stats().shared).toEqual({ waiting: 0, written: 0, skipped: 1 })
  })

  it('take for nothing what was altered, or is larger than anybody may have', async () => {
    const { cache, other, serverId, open: openMore } = await open()
    const cacheId = await keepShared(cache, serverId, ANYONE, 'a'.repeat(200 * KIBIBYTE))
    const small = openMore({ directory: makeDirectory(), limits: { maxBytesPerCaller: 100 * KIBIBYTE } })
    expect(await small.find(serverId, ANYONE, cacheId)).toBeUndefined()
    const [row] = await db.cachedAnswer.findMany({ where: { serverId } })
    const content = Uint8Array.from(row?.content ?? [])
    content[content.length - 1] = 255 - (content.at(-1) ?? 0)
    await db.cachedAnswer.updateMany({ where: { serverId }, data: { content } })
    expect(await other.find(serverId, ANYONE, cacheId)).toBeUndefined()
  })

  it('remove what has expired, however much it is, and nothing else', async () => {
    const { cache, clock, serverId } = await open()
    const row = { serverId, holder: '', about: '{}', content: new Uint8Array(), usedAt: new Date(clock.now) }
    await db.cachedAnswer.createMany({ data: Array.from({ length: 250 }, (_, id) => ({ ...row, id: `old ${id}` })) })
    // By a clock that was an hour fast.
    await db.cachedAnswer.create({ data: { ...row, id: 'ahead', usedAt: new Date(clock.now + 60 * MINUTE_MS) } })
    clock.now += 1
    const fresh = await keepShared(cache, serverId, ANYONE, 'fresh')
    clock.now += 5 * MINUTE_MS - 1
    await cache.sweep()
    expect(await countRows(serverId)).toBe(1)
    expect(await findText(cache, serverId, ANYONE, fresh)).toBe('fresh')
  })

  it('have nothing of a server any more that is dropped, or removed', async () => {
    const { cache, other, serverId } = await open()
    const removed = await createServer(db)
    const staying = await createServer(db)
    const ids = await Promise.all([serverId, removed, staying].map(id => keepShared(cache, id, ANYONE, id)))
    cache.dropServer(serverId)
    await cache.settle()
    await db.server.delete({ where: { id: removed } })
    const found = [serverId, removed, staying].map((id, index) => findText(other, id, ANYONE, ids[index] ?? ''))
    expect(await Promise.all(found)).toEqual([undefined, undefined, staying])
  })

  it('keep the answers of a server that the database does not know to themselves, and say nothing of them', async () => {
    const { cache, warnings } = await open()
    const cacheId = await keepShared(cache, 'no server', ANYONE, 'canary')
    expect(await findText(cache, 'no server', ANYONE, cacheId)).toBe('canary')
    expect(warnings).toHaveLength(1)
    expect(JSON.stringify(warnings)).not.toMatch(new RegExp(`canary|${cacheId}`))
  })
})

describe('a cache whose PostgreSQL does not answer', () => {
  it('holds nobody up, and writes what is kept when it answers again', async () => {
    const database = await postgres.create()
    onTestFinished(database.drop)
    const db = await openDatabase(database.target)
    onTestFinished(db.close)
    const serverId = await createServer(db)
    const { cache, open, warnings } = createCacheWorld({
      store: createSharedAnswerStore(db),
      limits: { maxLookupMs: 100 },
    })
    const holder = new Client({ connectionString: database.url })
    await holder.connect()
    await holder.query('BEGIN; LOCK TABLE "CachedAnswer" IN ACCESS EXCLUSIVE MODE')
    const cacheId = await keep(cache, serverId, ANYONE, 'here')
    expect(await findText(cache, serverId, ANYONE, cacheId)).toBe('here')
    const unknown = Array.from({ length: 20 }, (_, index) => `AAAAAAAAAAAAAAAAAAAA${index + 10}`)
    const found = await Promise.all(unknown.map(id => cache.find(serverId, ANYONE, id)))
    expect(found).toEqual(unknown.map(() => undefined))
    expect(warnings).toHaveLength(1)
    await holder.end()
    await cache.settle()
    const other = open({ directory: makeDirectory(), limits: {} })
    expect(await findText(other, serverId, ANYONE, cacheId)).toBe('here')
  })
})

describe('a cache whose PostgreSQL is gone', () => {
  it('goes on with what it has, and takes what others have for nothing', async () => {
    const database = await postgres.create()
    const db = await openDatabase(database.target)
    onTestFinished(db.close)
    const { cache, warnings } = createCacheWorld({ store: createSharedAnswerStore(db) })
    await database.drop()
    const cacheId = await keep(cache, 'server-1', ANYONE, 'canary')
    await cache.settle()
    expect(await findText(cache, 'server-1', ANYONE, cacheId)).toBe('canary')
    expect(await cache.find('server-1', ANYONE, 'AAAAAAAAAAAAAAAAAAAAAA')).toBeUndefined()
    cache.dropServer('server-1')
    await cache.sweep()
    await cache.settle()
    expect(warnings).toEqual([{ reason: 'unavailable', message: 'answers cannot be shared with other processes' }])
  })
})
