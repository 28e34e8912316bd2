import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { type OpenDatabase, openDatabase } from '../../../src/lib/db/client.ts'
import { Prisma } from '../../../src/lib/db/generated/sqlite/client.ts'
import { databaseKinds, type TestDatabase } from '../../support/databases.ts'

describe.each(databaseKinds)('a stored value, on $kind', ({ create }) => {
  let database: TestDatabase
  let db: OpenDatabase
  let organizationId: string
  beforeAll(async () => {
    database = await create()
    db = await openDatabase(database.target)
    organizationId = (await db.organization.create({ data: { name: 'values' } })).id
  })
  afterAll(async () => {
    await db.close()
    await database.drop()
  })

  const keep = (change: Prisma.InputJsonValue) =>
    db.auditEntry.create({ data: { organizationId, action: 'kept', targetType: 'value', change } })
  const keptJson = async (change: Prisma.InputJsonValue) => {
    const { id } = await keep(change)
    return (await db.auditEntry.findUniqueOrThrow({ where: { id } })).change
  }

  it('keeps the order of the keys of JSON', async () => {
    const kept = await keptJson({ zebra: 1, ant: { longer: 2, b: 3 }, '10': 4 })
    expect(JSON.stringify(kept)).toBe('{"10":4,"zebra":1,"ant":{"longer":2,"b":3}}')
  })

  it.each([
    ['a NUL', 'a\u0000b'],
    ['half a surrogate pair', 'a\ud800b'],
    ['what SQL could take for its own', `'"; DROP TABLE "User" --`],
    ['the largest exact integer', Number.MAX_SAFE_INTEGER],
    ['a number that is no integer', 0.1],
    ['false', false],
    ['an empty array', []],
    ['deep nesting', { a: [{ b: [{ c: 'd' }] }] }],
  ])('keeps JSON that contains %s', async (_what, value) => {
    expect(await keptJson({ value })).toEqual({ value })
  })

  it('distinguishes missing JSON from JSON null', async () => {
    const none = await db.auditEntry.create({ data: { organizationId, action: 'kept', targetType: 'value' } })
    expect(none.change).toBeNull()
    expect(await db.auditEntry.count({ where: { id: none.id, change: { equals: Prisma.DbNull } } })).toBe(1)
  })

  it('finds and sorts times by milliseconds', async () => {
    const times = ['2026-11-22T10:00:00.000Z', '2026-11-22T10:00:00.007Z', '2026-11-22T10:00:00.070Z'].map(
      text => new Date(text),
    )
    const ids: string[] = []
    for (const createdAt of times) {
      const row = await db.organization.create({ data: { name: 'timed', createdAt } })
      expect(row.createdAt).toEqual(createdAt)
      ids.push(row.id)
    }
    const where = { name: 'timed' }
    expect(await db.organization.findMany({ where: { ...where, createdAt: times[1] ?? '' } })).toHaveLength(1)
    expect(await db.organization.count({ where: { ...where, createdAt: { gt: times[0] ?? '' } } })).toBe(2)
    const ordered = await db.organization.findMany({ where, orderBy: { createdAt: 'asc' } })
    expect(ordered.map(({ id }) => id)).toEqual(ids)
  })

  it('creates timestamps that match the time of creation', async () => {
    const before = Date.now()
    const { createdAt } = await db.organization.create({ data: { name: 'now' } })
    expect(createdAt.getTime()).toBeGreaterThanOrEqual(before)
    expect(createdAt.getTime()).toBeLessThanOrEqual(Date.now())
  })
})
