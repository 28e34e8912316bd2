import { Client } from 'pg'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { type OpenDatabase, openDatabase } from '../../../src/lib/db/client.ts'
import { createDatabaseHealth, type DatabaseHealth } from '../../../src/lib/db/health.ts'
import { createNotices, type Notices } from '../../../src/lib/process/notices.ts'
import { startDatabaseProxy } from '../../support/database-proxy.ts'
import { databaseKinds, type TestDatabase } from '../../support/databases.ts'

const POOL_SIZE = 10
const silent = { warn: () => {}, error: () => {}, info: () => {} }

describe.each(databaseKinds.filter(({ kind }) => kind === 'postgresql'))('the health of $kind', ({ create }) => {
  let database: TestDatabase
  let db: OpenDatabase
  let health: DatabaseHealth
  let notices: Notices
  beforeEach(async () => {
    database = await create()
    db = await openDatabase(database.target)
    notices = createNotices(silent)
    health = createDatabaseHealth({ db, notices })
  })
  afterEach(async () => {
    await health.close()
    await db.close()
    await database.drop()
  })

  it('is good while every connection of the pool waits for a lock', async () => {
    const { promise: end, resolve: release } = Promise.withResolvers<void>()
    const { promise: locked, resolve: onLocked } = Promise.withResolvers<void>()
    const holder = db.$transaction(async tx => {
      await tx.$executeRaw`LOCK TABLE "Organization" IN ACCESS EXCLUSIVE MODE`
      onLocked()
      await end
    })
    await locked
    const waiting = Array.from({ length: POOL_SIZE * 2 }, async () => await db.organization.count())
    const observer = new Client({ connectionString: database.url })
    await observer.connect()
    const blocked = async (): Promise<number> =>
      (
        await observer.query(
          `SELECT pid FROM pg_stat_activity WHERE datname = current_database() AND wait_event = 'relation'`,
        )
      ).rows.length
    await expect.poll(blocked).toBe(POOL_SIZE - 1)
    await health.check()
    expect(notices.list()).toEqual([])
    await observer.end()
    release()
    await holder
    expect(await Promise.all(waiting)).toEqual(waiting.map(() => 0))
  })

  it('recovers from connections that are lost without a word', async () => {
    const proxy = await startDatabaseProxy(database.url)
    const target = { kind: 'postgresql', url: proxy.url } as const
    const other = await openDatabase(target, 500)
    proxy.loseConnections()
    const failures = await Promise.allSettled([other.organization.count()])
    expect(failures).toMatchObject([{ status: 'rejected', reason: { name: 'AppError', fault: 'unreachable' } }])
    expect(await other.organization.count()).toBe(0)
    await other.close()
    await proxy.close()
  })

  it('is good while it answers queries, although it opens no connection in time', async () => {
    const probe = async () => {
      await db.organization.count()
      throw new Error('timeout expired')
    }
    const slow = createDatabaseHealth({ db: Object.assign(db, { probe }), notices })
    await slow.check()
    expect(notices.list()).toEqual([])
    await slow.close()
  })

  it('is bad once the database is gone', async () => {
    await database.drop()
    await health.check()
    expect(notices.list()).toMatchObject([{ name: 'database_unreachable', level: 'problem' }])
  })
})
