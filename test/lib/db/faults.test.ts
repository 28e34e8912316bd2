import { readFileSync, writeFileSync } from 'node:fs'
import { setImmediate } from 'node:timers/promises'
import { inspect } from 'node:util'
import { Client } from 'pg'
import { afterEach, beforeEach, describe, expect, it, onTestFinished, vi } from 'vitest'
import { type OpenDatabase, openDatabase, transact } from '../../../src/lib/db/client.ts'
import { migrate } from '../../../src/lib/db/migrate.ts'
import { openRawSqlite, type RawSqlite } from '../../../src/lib/db/sqlite.ts'
import { databaseKinds, MIGRATIONS_DIRECTORY, type TestDatabase } from '../../support/databases.ts'

const kindNamed = (wanted: string) => databaseKinds.filter(({ kind }) => kind === wanted)
const SECOND_MS = 1_000
const data = { name: 'written' }
const failureOf = (work: Promise<unknown>): Promise<unknown> =>
  work.then(
    value => expect.unreachable(`it succeeded: ${JSON.stringify(value)}`),
    (error: unknown) => error,
  )

describe.each(kindNamed('sqlite'))('an SQLite file', ({ create }) => {
  let database: TestDatabase
  let db: OpenDatabase
  let file: string
  beforeEach(async () => {
    database = await create()
    db = await openDatabase(database.target)
    file = database.target.kind === 'sqlite' ? database.target.file : ''
  })
  afterEach(async () => {
    await db.close()
    await database.drop()
  })

  const lock = (): RawSqlite => {
    const other = openRawSqlite({ kind: 'sqlite', file }, { busyTimeoutMs: 0 })
    other.exec('BEGIN IMMEDIATE')
    return other
  }

  it('that another process locks briefly is waited for, and can be read meanwhile', async () => {
    const other = lock()
    const order: string[] = []
    const writes = [
      transact(db, tx => tx.organization.create({ data })).then(() => order.push('transaction')),
      db.organization.create({ data }).then(() => order.push('plain write')),
    ]
    expect(await db.organization.count()).toBe(0)
    setTimeout(() => {
      order.push('released')
      other.close()
    }, 300)
    await Promise.all(writes)
    expect(order).toEqual(['released', 'transaction', 'plain write'])
  })

  it('that another process keeps locked is reported as busy, and works again later', async () => {
    vi.useFakeTimers({ toFake: ['performance'] })
    onTestFinished(() => void vi.useRealTimers())
    const other = lock()
    let areOver = false
    const failing = Promise.all([
      failureOf(transact(db, tx => tx.organization.create({ data }))),
      failureOf(db.organization.create({ data })),
    ]).finally(() => {
      areOver = true
    })
    while (!areOver) {
      expect(await db.organization.count()).toBe(0)
      vi.advanceTimersByTime(SECOND_MS)
      // The next attempts start in timers, which queries alone would never let run.
      await setImmediate()
    }
    const failures = await failing
    const busy = { name: 'AppError', code: 'unavailable', message: expect.stringContaining('busy') }
    expect(failures).toEqual([expect.objectContaining(busy), expect.objectContaining(busy)])
    other.close()
    await transact(db, tx => tx.organization.create({ data }))
    expect(await db.organization.count()).toBe(1)
  })

  it('on a full disk reports it, rolls back, can be read, and accepts writes once there is space', async () => {
    const large = { data: { name: 'x'.repeat(100_000) } }
    await db.$queryRaw`PRAGMA max_page_count = 1`
    const full = { code: 'storage_full', message: expect.stringContaining('full'), operatorNote: file }
    expect(await failureOf(db.organization.create(large))).toMatchObject(full)
    const inTransaction = transact(db, async tx => {
      await tx.organization.create({ data: { name: 'small' } })
      await tx.organization.create(large)
    })
    expect(await failureOf(inTransaction)).toMatchObject(full)
    expect(await db.organization.count()).toBe(0)
    await db.$queryRaw`PRAGMA max_page_count = 1000000`
    await transact(db, tx => tx.organization.create(large))
    expect(await db.organization.count()).toBe(1)
  })

  const damaged = { name: 'AppError', code: 'unavailable', message: expect.stringContaining('damaged') }

  it('that is not a database file is named when it is opened and when it is migrated', async () => {
    await db.close()
    writeFileSync(file, 'no database at all '.repeat(1_000))
    const opening = await failureOf(openDatabase(database.target))
    expect(opening).toMatchObject(damaged)
    expect(opening).toMatchObject({ operatorNote: file })
    expect(await failureOf(migrate(database.target, MIGRATIONS_DIRECTORY))).toMatchObject(damaged)
  })

  it('that is damaged is named when the damage is read', async () => {
    await db.organization.createMany({ data: Array.from({ length: 4_000 }, () => data) })
    await db.close() // moves the write-ahead log into the file
    const bytes = readFileSync(file)
    bytes.fill(0xff, bytes.length * 0.75) // starts after the schema, which is read first
    writeFileSync(file, bytes)
    db = await openDatabase(database.target)
    expect(await failureOf(db.organization.findMany())).toMatchObject(damaged)
  })

  it('that does not exist is named', async () => {
    const missing = failureOf(openDatabase({ kind: 'sqlite', file: `${file}.none` }))
    expect(await missing).toMatchObject({ code: 'unavailable', operatorNote: `${file}.none` })
  })
})

describe.each(kindNamed('postgresql'))('a PostgreSQL server', ({ create }) => {
  let database: TestDatabase
  let db: OpenDatabase
  beforeEach(async () => {
    database = await create()
    db = await openDatabase(database.target)
  })
  afterEach(async () => {
    await db.close()
    await database.drop()
  })

  const endConnections = async (): Promise<void> => {
    const client = new Client({ connectionString: database.url })
    await client.connect()
    await client.query(
      // Returns once the connections have ended, after at most 5 s.
      'SELECT pg_terminate_backend(pid, 5000) FROM pg_stat_activity WHERE datname = current_database() AND pid <> pg_backend_pid()',
    )
    await client.end()
  }

  it('that closes the connection in a transaction is reported as gone, and works again at once', async () => {
    const broken = transact(db, async tx => {
      await tx.organization.create({ data })
      await endConnections()
      await tx.organization.create({ data })
    })
    expect(await failureOf(broken)).toMatchObject({ name: 'AppError', code: 'unavailable' })
    await transact(db, tx => tx.organization.create({ data }))
    expect(await db.organization.count()).toBe(1)
  })

  it('that closes idle connections causes no errors', async () => {
    await db.organization.create({ data })
    await endConnections()
    expect(await db.organization.count()).toBe(1)
  })

  it('that is unreachable, or lacks the database, is named without its password', async () => {
    const url = new URL(database.url)
    url.password = 'not-this-one'
    const wrongPassword = await failureOf(openDatabase({ kind: 'postgresql', url: url.href }))
    url.port = '1'
    const nobody = await failureOf(openDatabase({ kind: 'postgresql', url: url.href }))
    for (const failure of [wrongPassword, nobody]) {
      expect(failure).toMatchObject({ name: 'AppError', code: 'unavailable' })
      expect(failure).toMatchObject({ message: expect.not.stringContaining('127.0.0.1') })
      expect(inspect(failure)).not.toContain('not-this-one')
    }
  })
})
