import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { type OpenDatabase, openDatabase } from '../../../src/lib/db/client.ts'
import { containing } from '../../../src/lib/db/containing.ts'
import { measureDatabase } from '../../../src/lib/db/measure.ts'
import { databaseKinds, type TestDatabase } from '../../support/databases.ts'

describe.each(databaseKinds)('a database, on $kind', ({ kind, create }) => {
  let database: TestDatabase
  let db: OpenDatabase
  beforeAll(async () => {
    database = await create()
    db = await openDatabase(database.target)
    const names = ['Kestrel Freight', 'KESTREL 50%', 'a_b', 'aXb', 'back\\slash', 'مكتب الشحن', '🚚 Pickups']
    await db.organization.createMany({ data: names.map(name => ({ name })) })
  })
  afterAll(async () => {
    await db.close()
    await database.drop()
  })

  const search = async (text: string): Promise<string[]> =>
    (await db.organization.findMany({ where: { name: containing(db, text) }, orderBy: { id: 'asc' } }))
      .map(({ name }) => name)
      .sort()

  it('searches ignore the case of Latin letters and work in any script', async () => {
    expect(await search('kestrel')).toEqual(['KESTREL 50%', 'Kestrel Freight'])
    expect(await search('FREIGHT')).toEqual(['Kestrel Freight'])
    expect(await search('الشحن')).toEqual(['مكتب الشحن'])
    expect(await search('🚚')).toEqual(['🚚 Pickups'])
    expect(await search('zzz')).toEqual([])
  })

  it('searches treat the wildcards of LIKE literally', async () => {
    expect(await search('50%')).toEqual(['KESTREL 50%'])
    expect(await search('a_b')).toContain('a_b')
    expect(await search('back\\slash')).toEqual(['back\\slash'])
    if (kind === 'postgresql') expect(await search('a_b')).toEqual(['a_b'])
  })

  it('searches find the same inside a transaction', async () => {
    const found = await db.$transaction(tx => tx.organization.count({ where: { name: containing(db, 'kestrel') } }))
    expect(found).toBe(2)
  })

  it('reports its size, which grows with its content', async () => {
    const before = await measureDatabase(db)
    expect(before).toBeGreaterThan(100_000)
    await db.organization.createMany({ data: Array.from({ length: 5_000 }, () => ({ name: 'x'.repeat(100) })) })
    expect(await measureDatabase(db)).toBeGreaterThan(before)
  })
})
