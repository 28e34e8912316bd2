import { rmSync } from 'node:fs'
import { dirname } from 'node:path'
import { openRawSqlite } from '../../src/lib/db/sqlite.ts'
import type { Services } from '../../src/services.ts'
import { startTestApp, type TestApp, type TestAppOptions } from './app.ts'
import type { DatabaseKindForTests, TestDatabase } from './databases.ts'
import { type SmtpServer, startSmtpServer } from './smtp-server.ts'

/** An application with its own database and mail server. */
export type StartedApp = {
  app: TestApp
  database: TestDatabase
  smtp: SmtpServer
  close: () => Promise<void>
}

export type StartOptions = Omit<TestAppOptions, 'databaseUrl'> & {
  kind: DatabaseKindForTests
  /** Whether the application sends its mail to `smtp` instead of its outbox. */
  hasMail?: boolean
}

export const startOwnApp = async ({ kind, hasMail, env, services }: StartOptions): Promise<StartedApp> => {
  const database = await kind.create()
  const smtp = await startSmtpServer()
  const app = await startTestApp({
    databaseUrl: database.url,
    env: { ...(hasMail && { SMTP_URL: smtp.url }), ...env },
    ...(services && { services }),
  })
  return {
    app,
    database,
    smtp,
    close: async () => {
      await app.close()
      await smtp.close()
      await database.drop()
    },
  }
}

/** Lists the tables that are still empty after the application has started. */
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

/** Deletes the rows of these tables, and makes the application drop what it has cached from them. */
const emptyTables = async ({ db, bus }: Services, { target }: TestDatabase, tables: string[]): Promise<void> => {
  const deletions = tables.map(name => `DELETE FROM "${name}";`).join(' ')
  if (target.kind === 'sqlite') {
    const connection = openRawSqlite(target, { busyTimeoutMs: 5_000 })
    connection.pragma('foreign_keys = OFF')
    connection.exec(`BEGIN; ${deletions} COMMIT;`)
    connection.close()
  } else {
    // In the replica role, PostgreSQL does not check foreign keys.
    await db.$executeRawUnsafe(`DO $$ BEGIN SET LOCAL session_replication_role = replica; ${deletions} END $$`)
  }
  await bus.publish({ type: 'resync' })
}

/** Idle applications, keyed by database and settings. */
const idle = new Map<string, StartedApp[]>()

// Each application adds a listener for the exit of this process.
process.setMaxListeners(50)

// Vitest sends this signal to a worker after its last file, and kills the worker soon after. The PostgreSQL databases
// end with their server.
process.once('SIGTERM', () => {
  for (const { app, database } of [...idle.values()].flat()) {
    rmSync(app.directory, { recursive: true, force: true })
    if (database.target.kind === 'sqlite') rmSync(dirname(database.target.file), { recursive: true, force: true })
  }
  process.exit()
})

/**
 * Returns an application with an empty database. Prefers one that an earlier test with the same settings has closed,
 * because starting one takes longer than most tests. A test that leaves more than rows behind must start its own.
 */
export const takeKeptApp = async (options: Omit<StartOptions, 'services'>): Promise<StartedApp> => {
  const key = JSON.stringify([options.kind.kind, options.hasMail ?? false, options.env ?? {}])
  const others = idle.get(key) ?? []
  idle.set(key, others)
  const known = others.pop()
  if (known !== undefined) return known
  const started = await startOwnApp(options)
  const tables = await listEmptyTables(started.app.services)
  const kept: StartedApp = {
    ...started,
    close: async () => {
      await emptyTables(started.app.services, started.database, tables)
      started.smtp.reset()
      others.push(kept)
    },
  }
  return kept
}
