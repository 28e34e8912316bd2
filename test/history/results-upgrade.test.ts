import { randomUUID } from 'node:crypto'
import { expect, it, onTestFinished } from 'vitest'
import { createExecutionStore } from '../../src/history/executions.store.ts'
import { openDatabase } from '../../src/lib/db/client.ts'
import { migrate } from '../../src/lib/db/migrate.ts'
import { databaseKinds, MIGRATIONS_DIRECTORY } from '../support/databases.ts'
import { migrateUntil } from '../support/migrate-until.ts'

const CALLS = [
  { outcome: 'ok', status: 200, result: 'success' },
  { outcome: 'ok', status: null, result: 'success' },
  { outcome: 'error', status: 404, result: 'rejected' },
  { outcome: 'error', status: 500, result: 'failed' },
  { outcome: 'error', status: 200, result: 'failed' },
  { outcome: 'error', status: null, result: 'failed' },
] as const

it.each(databaseKinds)(
  'after the upgrade, calls from before have the result of their outcome and status, on $kind',
  async ({ createEmpty }) => {
    const database = await createEmpty()
    onTestFinished(database.drop)
    await migrateUntil(database, '_call_result')
    const db = await openDatabase(database.target)
    try {
      await db.$executeRaw`INSERT INTO "User" ("id", "email", "passwordHash", "updatedAt")
        VALUES ('owner', 'owner@example.com', '', CURRENT_TIMESTAMP)`
      await db.$executeRaw`INSERT INTO "Organization" ("id", "name", "updatedAt")
        VALUES ('organization', 'Organization', CURRENT_TIMESTAMP)`
      await db.$executeRaw`INSERT INTO "Server" ("id", "organizationId", "ownerId", "name", "access", "updatedAt")
        VALUES ('server', 'organization', 'owner', 'Server', 'public', CURRENT_TIMESTAMP)`
      const ids = CALLS.map(() => randomUUID())
      for (const [index, { outcome, status }] of CALLS.entries()) {
        await db.$executeRawUnsafe(`INSERT INTO "Execution"
          ("id", "serverId", "tool", "startedAt", "durationMs", "outcome", "status", "requestBytes", "responseBytes", "updatedAt")
          VALUES ('${ids[index]}', 'server', 'tool', CURRENT_TIMESTAMP, 1, '${outcome}', ${status}, 0, 0, CURRENT_TIMESTAMP)`)
      }
      await migrate(database.target, MIGRATIONS_DIRECTORY)
      const store = createExecutionStore(db, () => ({}))
      const found = await Promise.all(ids.map(id => store.find(id, ['organization'])))
      expect(found).toMatchObject(CALLS.map(({ outcome, result }) => ({ outcome, result })))
    } finally {
      await db.close()
    }
  },
)
