import { onTestFinished } from 'vitest'
import { openRawSqlite } from '../../src/lib/db/sqlite.ts'
import type { ServiceOptions, Services } from '../../src/services.ts'
import { startTestApp, type TestApp } from '../support/app.ts'
import type { DatabaseKindForTests, TestDatabase } from '../support/databases.ts'
import { atEndOfFile } from '../support/end-of-file.ts'

export { databaseKinds as databases } from '../support/databases.ts'
export { anyDatabase } from '../support/world.ts'

export type AccountsApp = TestApp & {
  /** Starts a second application on the same database, like another process. */
  startAnother: (env?: Record<string, string>) => Promise<TestApp>
}

type StartedApp = { app: AccountsApp; empty: () => Promise<void>; close: () => Promise<void> }

/** Names the tables that the application itself has not written to when it started. */
const listEmptyTables = async ({ db }: Services): Promise<string[]> => {
  const rows =
    db.kind === 'sqlite'
      ? await db.$queryRaw<{ name: string }[]>`
          SELECT name FROM sqlite_schema WHERE type = 'table' AND name NOT LIKE 'sqlite_%'`
      : await db.$queryRaw<{ name: string }[]>`SELECT tablename AS name FROM pg_tables WHERE schemaname = 'public'`
  const tables: string[] = []
  for (const { name } of rows) {
    const [row] = await db.$queryRawUnsafe<unknown[]>(`SELECT 1 FROM "${name}" LIMIT 1`)
    if (row === undefined) tables.push(name)
  }
  return tables
}

/** Deletes the rows of these tables, and makes the application forget what it knew of them. */
const emptyTables = async ({ db, bus }: Services, { target }: TestDatabase, tables: string[]): Promise<void> => {
  const deletions = tables.map(name => `DELETE FROM "${name}";`).join(' ')
  if (target.kind === 'sqlite') {
    const connection = openRawSqlite(target, { busyTimeoutMs: 5_000 })
    connection.pragma('foreign_keys = OFF')
    connection.exec(`BEGIN; ${deletions} COMMIT;`)
    connection.close()
  } else {
    // A replica checks no foreign keys.
    await db.$executeRawUnsafe(`DO $$ BEGIN SET LOCAL session_replication_role = replica; ${deletions} END $$`)
  }
  await bus.publish({ type: 'resync' })
}

const start = async (
  kind: DatabaseKindForTests,
  env?: Record<string, string>,
  services?: ServiceOptions,
): Promise<StartedApp> => {
  const database = await kind.create()
  const startOn = (settings: Record<string, string> = {}): Promise<TestApp> =>
    startTestApp({ databaseUrl: database.url, env: settings, ...(services && { services }) })
  const app = await startOn(env)
  const tables = await listEmptyTables(app.services)
  const startAnother = async (settings?: Record<string, string>): Promise<TestApp> => {
    const another = await startOn(settings)
    onTestFinished(another.close)
    return another
  }
  return {
    app: { ...app, startAnother },
    empty: () => emptyTables(app.services, database, tables),
    close: async () => {
      await app.close()
      await database.drop()
    },
  }
}

/** Running applications that no test of this file uses at the moment, with empty databases. */
const idle = new Map<string, StartedApp[]>()
atEndOfFile(async () => {
  for (const { close } of [...idle.values()].flat()) await close()
  idle.clear()
})

/**
 * Returns the real application with an empty database. The tests of a file share one for each database and environment,
 * emptied after each test.
 */
export const startApp = async (kind: DatabaseKindForTests, env: Record<string, string> = {}): Promise<AccountsApp> => {
  const key = JSON.stringify([kind.kind, env])
  const others = idle.get(key) ?? []
  idle.set(key, others)
  const started = others.pop() ?? (await start(kind, env))
  onTestFinished(async () => {
    await started.empty()
    others.push(started)
  })
  return started.app
}

/** Starts an application for this test alone, for what the next test would notice. */
export const startOwnApp = async (
  kind: DatabaseKindForTests,
  env?: Record<string, string>,
  services?: ServiceOptions,
): Promise<AccountsApp> => {
  const { app, close } = await start(kind, env, services)
  onTestFinished(close)
  return app
}
