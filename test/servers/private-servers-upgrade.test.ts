import { expect, it, onTestFinished } from 'vitest'
import { openDatabase } from '../../src/lib/db/client.ts'
import { migrate } from '../../src/lib/db/migrate.ts'
import { databaseKinds, MIGRATIONS_DIRECTORY } from '../support/databases.ts'
import { migrateUntil } from '../support/migrate-until.ts'

const SERVERS = [
  { id: 'private', access: 'private' },
  { id: 'organization', access: 'organization' },
  { id: 'public', access: 'public' },
] as const

it.each(databaseKinds)(
  'the upgrade asks about existing private servers, and only about those, on $kind',
  async ({ createEmpty }) => {
    const database = await createEmpty()
    onTestFinished(database.drop)
    await migrateUntil(database, '_private_servers')
    const db = await openDatabase(database.target)
    try {
      await db.$executeRaw`INSERT INTO "User" ("id", "email", "passwordHash", "updatedAt")
        VALUES ('owner', 'owner@example.com', '', CURRENT_TIMESTAMP)`
      await db.$executeRaw`INSERT INTO "Organization" ("id", "name", "updatedAt")
        VALUES ('organization', 'Organization', CURRENT_TIMESTAMP)`
      for (const { id, access } of SERVERS) {
        await db.$executeRawUnsafe(`INSERT INTO "Server" ("id", "organizationId", "ownerId", "name", "access", "updatedAt")
          VALUES ('${id}', 'organization', 'owner', '${id}', '${access}', CURRENT_TIMESTAMP)`)
      }
      await migrate(database.target, MIGRATIONS_DIRECTORY)
      const asked = await db.server.findMany({ where: { tierNoticeAt: { not: null } } })
      expect(asked).toMatchObject([{ id: 'private', access: 'private', tierNoticeAt: expect.any(Date) }])
    } finally {
      await db.close()
    }
  },
)
