import { describe, expect, it, onTestFinished } from 'vitest'
import { openDatabase } from '../../../src/lib/db/client.ts'
import { migrate } from '../../../src/lib/db/migrate.ts'
import { databaseKinds, MIGRATIONS_DIRECTORY } from '../../support/databases.ts'
import { migrateUntil } from '../../support/migrate-until.ts'

const TIMES = '"createdAt", "updatedAt"'
const NOW = 'CURRENT_TIMESTAMP, CURRENT_TIMESTAMP'

describe.each(databaseKinds)('the creators of organizations, on $kind', ({ createEmpty }) => {
  it('are the owners with the longest membership in a database from before they were stored', async () => {
    const database = await createEmpty()
    onTestFinished(database.drop)
    const own = await migrateUntil(database, '_organization_creator')

    const db = await openDatabase(database.target)
    onTestFinished(() => db.close())
    for (const id of ['ada', 'bob', 'eve']) {
      await db.$executeRawUnsafe(
        `INSERT INTO "User" ("id", "email", "passwordHash", ${TIMES}) VALUES ('${id}', '${id}@example.com', '', ${NOW})`,
      )
    }
    for (const id of ['first', 'second', 'nobodys']) {
      await db.$executeRawUnsafe(
        `INSERT INTO "Organization" ("id", "name", ${TIMES}) VALUES ('${id}', '${id}', ${NOW})`,
      )
    }
    for (const [id, organization, user, role] of [
      ['1', 'first', 'eve', 'admin'],
      ['2', 'first', 'bob', 'owner'],
      ['3', 'first', 'ada', 'owner'],
      ['4', 'second', 'ada', 'owner'],
      ['5', 'nobodys', 'eve', 'viewer'],
    ]) {
      await db.$executeRawUnsafe(
        `INSERT INTO "Membership" ("id", "organizationId", "userId", "role", ${TIMES})
         VALUES ('${id}', '${organization}', '${user}', '${role}', ${NOW})`,
      )
    }

    expect(await migrate(database.target, MIGRATIONS_DIRECTORY)).toContain(own)
    const creators = await db.organization.findMany({
      select: { id: true, creatorId: true },
      orderBy: { id: 'asc' },
    })
    expect(creators).toEqual([
      { id: 'first', creatorId: 'bob' },
      { id: 'nobodys', creatorId: null },
      { id: 'second', creatorId: 'ada' },
    ])
    await db.$executeRawUnsafe(`DELETE FROM "User" WHERE "id" = 'bob'`)
    expect(await db.organization.findUnique({ where: { id: 'first' } })).toMatchObject({ creatorId: 'bob' })
  })
})
