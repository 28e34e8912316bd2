import { expect, it, onTestFinished } from 'vitest'
import { openDatabase } from '../../src/lib/db/client.ts'
import { createCreatorLookup } from '../../src/tenancy/organization-creators.ts'
import { anyDatabase } from '../support/world.ts'

it('the creator of an organization counts as unknown while the database does not answer', async () => {
  const database = await anyDatabase.create()
  onTestFinished(database.drop)
  const db = await openDatabase(database.target)
  onTestFinished(() => db.close())
  const { id } = await db.organization.create({ data: { name: 'Us', creatorId: 'ada' } })
  let isSilent = true
  const findCreator = createCreatorLookup(db, {
    whileReachable: work => (isSilent ? new Promise(() => undefined) : work()),
  })
  expect(await Promise.all([findCreator(id), findCreator(id)])).toEqual([undefined, undefined])
  isSilent = false
  expect(await findCreator(id)).toBe('ada')
})
