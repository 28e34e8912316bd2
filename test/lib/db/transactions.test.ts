import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { type OpenDatabase, openDatabase, transact } from '../../../src/lib/db/client.ts'
import { isUniqueViolation } from '../../../src/lib/db/failures.ts'
import { databaseKinds, type TestDatabase } from '../../support/databases.ts'

describe.each(databaseKinds)('a transaction, on $kind', ({ create }) => {
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

  it('leaves nothing behind if it fails', async () => {
    const failing = transact(db, async tx => {
      await tx.organization.create({ data: { name: 'gone' } })
      throw new Error('on purpose')
    })
    await expect(failing).rejects.toThrow('on purpose')
    expect(await db.organization.count()).toBe(0)
  })

  it('does not roll back a concurrent write if it fails', async () => {
    let beside: Promise<unknown> = Promise.resolve()
    const failing = transact(db, async tx => {
      await tx.organization.create({ data: { name: 'inside' } })
      beside = db.organization.create({ data: { name: 'beside' } }).then(row => row)
      await tx.organization.create({ data: { name: 'inside too' } })
      throw new Error('on purpose')
    })
    await expect(failing).rejects.toThrow('on purpose')
    await beside
    expect((await db.organization.findMany()).map(({ name }) => name)).toEqual(['beside'])
  })

  it('is not seen by others before it commits', async () => {
    const seen: number[] = []
    await transact(db, async tx => {
      await tx.organization.create({ data: { name: 'one' } })
      seen.push(await db.organization.count())
    })
    seen.push(await db.organization.count())
    expect(seen).toEqual([0, 1])
  })

  it('is serializable: concurrent transactions that count and then add never use an outdated count', async () => {
    await Promise.all(
      Array.from({ length: 10 }, () =>
        transact(db, async tx => {
          const count = await tx.organization.count()
          await tx.organization.create({ data: { name: `number ${count}` } })
        }),
      ),
    )
    const names = (await db.organization.findMany()).map(({ name }) => name)
    expect(names.sort()).toEqual(Array.from({ length: 10 }, (_, index) => `number ${index}`))
  })

  it('distinguishes a duplicate value from other failures', async () => {
    const data = { email: 'ada@example.com', passwordHash: 'x' }
    await db.user.create({ data })
    const duplicate = await transact(db, tx => tx.user.create({ data })).catch((error: unknown) => error)
    expect(isUniqueViolation(duplicate)).toBe(true)
    const missing = await db.user.delete({ where: { id: 'nobody' } }).catch((error: unknown) => error)
    expect(isUniqueViolation(missing)).toBe(false)
  })
})
