import { randomBytes } from 'node:crypto'
import { mkdir, readdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { Client } from 'pg'
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest'
import { makeScratchFolder } from '../../../scripts/scratch-folder.ts'
import { type OpenDatabase, openDatabase } from '../../../src/lib/db/client.ts'
import type { CutCache, CutCacheOptions } from '../../../src/results/cut-cache/cut-cache.ts'
import { createCutResultStore } from '../../../src/results/cut-cache/cut-results.store.ts'
import { createServer } from '../../history/history-world.ts'
import { startTestApp } from '../../support/app.ts'
import { databaseKinds, type TestDatabase } from '../../support/databases.ts'
import { writeMigratedSqlite } from '../../support/sqlite.ts'
import { ABOUT, ANYONE, createCacheWorld, KIBIBYTE, MINUTE_MS, newHolder, put, read, readText } from './cache-world.ts'

const postgres = databaseKinds.find(({ kind }) => kind === 'postgresql')
if (postgres === undefined) throw new Error('there is no database to test on')

describe('two replicas that share PostgreSQL', () => {
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

  /** Opens two caches, each with its own connection, and creates a server. */
  const open = async (options: CutCacheOptions = {}) => {
    const world = createCacheWorld({ store: createCutResultStore(db), ...options })
    const other = world.open({ store: createCutResultStore(otherDb) })
    return { ...world, other, serverId: await createServer(db) }
  }
  const putShared = async (cache: CutCache, serverId: string, holder: string, content: string | Uint8Array) => {
    const cacheId = await put(cache, serverId, holder, content)
    await cache.settle()
    return cacheId
  }
  const countRows = (serverId: string): Promise<number> => db.cachedAnswer.count({ where: { serverId } })

  it.each([
    ['text', 'naïve 🧵'],
    ['nothing', ''],
    ['a megabyte', JSON.stringify(Array.from({ length: 30_000 }, (_, id) => ({ id, name: `order ${id}` })))],
    ['bytes that cannot be compressed', randomBytes(2_000 * KIBIBYTE)],
  ])('open each other’s results, with what is known about them: %s', async (_what, content) => {
    const { cache, other, serverId } = await open()
    const holder = newHolder()
    const cacheId = await putShared(cache, serverId, holder, content)
    for (let times = 0; times < 2; times++) {
      const opened = await other.open(serverId, holder, cacheId)
      expect((await opened?.read())?.equals(Buffer.from(content))).toBe(true)
      expect(opened?.about).toEqual(ABOUT)
    }
  })

  it('find nothing for every other caller, server and id', async () => {
    const { cache, other, serverId } = await open()
    const elsewhere = await createServer(db)
    const mine = newHolder()
    const cacheId = await putShared(cache, serverId, mine, 'mine')
    const anyones = await putShared(cache, serverId, ANYONE, 'for all')
    for (const one of [cache, other]) {
      const opened = [
        await one.open(serverId, newHolder(), cacheId),
        await one.open(serverId, ANYONE, cacheId),
        await one.open(elsewhere, mine, cacheId),
        await one.open(elsewhere, ANYONE, anyones),
        await one.open(serverId, mine, anyones),
        await one.open(serverId, mine, 'AAAAAAAAAAAAAAAAAAAAAA'),
      ]
      expect(opened).toEqual(opened.map(() => undefined))
      expect(await readText(one, serverId, mine, cacheId)).toBe('mine')
      expect(await readText(one, serverId, ANYONE, anyones)).toBe('for all')
    }
  })

  it('have no ids in the database, and no content in plain text', async () => {
    const { cache, serverId } = await open()
    const cacheId = await putShared(cache, serverId, newHolder(), 'canary '.repeat(1_000))
    const rows = await db.cachedAnswer.findMany({ where: { serverId } })
    expect(rows).toHaveLength(1)
    expect(JSON.stringify(rows)).not.toContain(cacheId)
    expect(Buffer.from(rows[0]?.content ?? []).toString()).not.toContain('canary canary')
  })

  it('look a result up once for a hundred calls at the same time, and then have it in memory', async () => {
    const { cache, other, serverId } = await open()
    const cacheId = await putShared(cache, serverId, ANYONE, 'here')
    const found = await Promise.all(Array.from({ length: 100 }, () => readText(other, serverId, ANYONE, cacheId)))
    expect(new Set(found)).toEqual(new Set(['here']))
    await db.cachedAnswer.deleteMany({ where: { serverId } })
    expect(await readText(other, serverId, ANYONE, cacheId)).toBe('here')
  })

  it('find results of one caller while another guesses ids by the hundred', async () => {
    const { cache, other, serverId } = await open()
    const [guest, guesser] = [newHolder(), newHolder()]
    const cacheId = await putShared(cache, serverId, guest, 'here')
    const guesses = Array.from({ length: 400 }, () =>
      other.open(serverId, guesser, randomBytes(16).toString('base64url')),
    )
    expect(await readText(other, serverId, guest, cacheId)).toBe('here')
    expect(await Promise.all(guesses)).toEqual(Array(400).fill(undefined))
    const own = await putShared(cache, serverId, guesser, 'found afterwards')
    expect(await readText(other, serverId, guesser, own)).toBe('found afterwards')
  })

  it('restart the time to live with a use at either', async () => {
    const { cache, other, clock, serverId } = await open()
    const cacheId = await putShared(cache, serverId, ANYONE, 'here')
    for (const one of [other, cache, other, cache]) {
      clock.now += 5 * MINUTE_MS - 1
      expect(await readText(one, serverId, ANYONE, cacheId)).toBe('here')
      await one.settle()
    }
    // The other cache has not been used for more than five minutes, so it reads the row.
    clock.now += 4 * MINUTE_MS
    expect(await readText(cache, serverId, ANYONE, cacheId)).toBe('here')
    await cache.settle()
    clock.now += 4 * MINUTE_MS
    expect(await readText(other, serverId, ANYONE, cacheId)).toBe('here')
    await other.settle()
    clock.now += 5 * MINUTE_MS + 1
    expect(await readText(cache, serverId, ANYONE, cacheId)).toBeUndefined()
    expect(await readText(other, serverId, ANYONE, cacheId)).toBeUndefined()
  })

  it('delete the row of a result that its own replica evicts, but not of one that was only found there', async () => {
    const { cache, other, serverId } = await open({ limits: { maxBytes: 400 * KIBIBYTE } })
    const large = randomBytes(70 * KIBIBYTE)
    const holder = newHolder()
    const first = await putShared(cache, serverId, holder, large)
    expect(await read(other, serverId, holder, first)).toEqual(large)
    const second = await putShared(cache, serverId, holder, large)
    expect(await countRows(serverId)).toBe(1)
    expect(await read(cache, serverId, holder, first)).toBeUndefined()
    expect(await read(other, serverId, holder, first)).toEqual(large)
    expect(await read(other, serverId, holder, second)).toEqual(large)
    await put(other, serverId, holder, large)
    await other.settle()
    expect(await countRows(serverId)).toBe(2)
  })

  it('open results of one that has stopped, also those that it had not written by then', async () => {
    const { cache, other, serverId } = await open()
    const ids = await Promise.all(
      Array.from({ length: 20 }, (_, index) => put(cache, serverId, ANYONE, `${index} `.repeat(200 * KIBIBYTE))),
    )
    await cache.close()
    for (const [index, id] of ids.entries()) {
      expect(await readText(other, serverId, ANYONE, id)).toBe(`${index} `.repeat(200 * KIBIBYTE))
    }
  })

  it('do not share a result that is too large for a row', async () => {
    const { cache, other, serverId } = await open({ limits: { maxRowBytes: 100 * KIBIBYTE } })
    const content = randomBytes(100 * KIBIBYTE)
    const cacheId = await putShared(cache, serverId, ANYONE, content)
    expect(await countRows(serverId)).toBe(0)
    expect(await other.open(serverId, ANYONE, cacheId)).toBeUndefined()
    expect(await read(cache, serverId, ANYONE, cacheId)).toEqual(content)
  })

  it('do not read a row that was altered', async () => {
    const { cache, other, serverId } = await open()
    const cacheId = await putShared(cache, serverId, ANYONE, 'a'.repeat(200 * KIBIBYTE))
    const [row] = await db.cachedAnswer.findMany({ where: { serverId } })
    const content = Uint8Array.from(row?.content ?? [])
    content[content.length - 1] = 255 - (content.at(-1) ?? 0)
    await db.cachedAnswer.updateMany({ where: { serverId }, data: { content } })
    await expect(read(other, serverId, ANYONE, cacheId)).rejects.toThrow()
  })

  it('delete all rows that have expired, and no others', async () => {
    const { cache, clock, serverId } = await open()
    const row = { serverId, holder: '', about: '{}', content: new Uint8Array(), usedAt: new Date(clock.now) }
    await db.cachedAnswer.createMany({ data: Array.from({ length: 250 }, (_, id) => ({ ...row, id: `old ${id}` })) })
    // Written by a replica whose clock was an hour fast.
    await db.cachedAnswer.create({ data: { ...row, id: 'ahead', usedAt: new Date(clock.now + 60 * MINUTE_MS) } })
    clock.now += 1
    const fresh = await putShared(cache, serverId, ANYONE, 'fresh')
    clock.now += 5 * MINUTE_MS - 1
    await cache.purge()
    expect(await countRows(serverId)).toBe(1)
    expect(await readText(cache, serverId, ANYONE, fresh)).toBe('fresh')
  })

  it('keep results in memory if there is no server for the row, and warn without their content', async () => {
    const { cache, warnings } = await open()
    const cacheId = await putShared(cache, 'no server', ANYONE, 'canary')
    expect(await readText(cache, 'no server', ANYONE, cacheId)).toBe('canary')
    expect(warnings).toHaveLength(1)
    expect(JSON.stringify(warnings)).not.toMatch(new RegExp(`canary|${cacheId}`))
  })
})

describe('a replica whose PostgreSQL does not answer', () => {
  it('delays no call, and writes its results when the database answers again', async () => {
    const database = await postgres.create()
    onTestFinished(database.drop)
    const db = await openDatabase(database.target)
    onTestFinished(db.close)
    const serverId = await createServer(db)
    const store = createCutResultStore(db)
    const { cache, open, warnings } = createCacheWorld({ store, limits: { maxLookupMs: 100 } })
    const holder = new Client({ connectionString: database.url })
    await holder.connect()
    await holder.query('BEGIN; LOCK TABLE "CachedAnswer" IN ACCESS EXCLUSIVE MODE')
    const cacheId = await put(cache, serverId, ANYONE, 'here')
    expect(await readText(cache, serverId, ANYONE, cacheId)).toBe('here')
    const unknown = Array.from({ length: 20 }, (_, index) => `AAAAAAAAAAAAAAAAAAAA${index + 10}`)
    const found = await Promise.all(unknown.map(id => cache.open(serverId, ANYONE, id)))
    expect(found).toEqual(unknown.map(() => undefined))
    expect(warnings).toHaveLength(1)
    await holder.end()
    await cache.settle()
    const other = open({ limits: {} })
    expect(await readText(other, serverId, ANYONE, cacheId)).toBe('here')
  })
})

describe('a replica whose PostgreSQL is gone', () => {
  it('continues with the results in its memory, and warns once', async () => {
    const database = await postgres.create()
    const db = await openDatabase(database.target)
    onTestFinished(db.close)
    const { cache, warnings } = createCacheWorld({ store: createCutResultStore(db) })
    await database.drop()
    const cacheId = await put(cache, 'server-1', ANYONE, 'canary')
    await cache.settle()
    expect(await readText(cache, 'server-1', ANYONE, cacheId)).toBe('canary')
    expect(await cache.open('server-1', ANYONE, 'AAAAAAAAAAAAAAAAAAAAAA')).toBeUndefined()
    await cache.purge()
    await cache.settle()
    expect(warnings).toEqual([{ reason: 'unavailable', message: 'cut results cannot be shared with other replicas' }])
  })
})

describe('an installation on SQLite', () => {
  it('shares no results through the database', async () => {
    const sqlite = databaseKinds.find(({ kind }) => kind === 'sqlite')
    const database = await sqlite?.create()
    if (database === undefined) throw new Error('there is no SQLite')
    onTestFinished(database.drop)
    const db = await openDatabase(database.target)
    onTestFinished(db.close)
    expect(createCutResultStore(db)).toBeUndefined()
  })

  it('deletes the files that earlier versions left in the data folder, and nothing else', async () => {
    const data = makeScratchFolder('patchbay-test-')
    await writeMigratedSqlite(join(data, 'patchbay.db'))
    for (const name of ['0123456789abcdef-1-1-01234567-89ab-cdef-0123-456789abcdef', 'notes']) {
      await mkdir(join(data, 'answers', name), { recursive: true })
      await writeFile(join(data, 'answers', name, 'file'), '')
    }
    const patchbay = await startTestApp({ databaseUrl: `file:${join(data, 'patchbay.db')}` })
    onTestFinished(patchbay.close)
    await expect.poll(() => readdir(join(data, 'answers'))).toEqual(['notes'])
    expect(await readdir(join(data, 'answers', 'notes'))).toEqual(['file'])
  })
})
