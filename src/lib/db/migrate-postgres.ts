import { randomUUID } from 'node:crypto'
import { Client } from 'pg'
import {
  type AppliedMigration,
  type MigratableDatabase,
  type Migration,
  migrationFailed,
  planMigrations,
} from './migrations.ts'
import { toPgConfig } from './postgres.ts'
import type { PostgresTarget } from './target.ts'

/** The same lock that Prisma's engine takes, so that it and Patchbay never migrate at the same time. */
const PRISMA_ADVISORY_LOCK = 72_707_369

/** Exactly the table that Prisma's engine creates, so that `prisma migrate` accepts it. */
const BOOKKEEPING = `CREATE TABLE IF NOT EXISTS "_prisma_migrations" (
  "id" VARCHAR(36) PRIMARY KEY NOT NULL,
  "checksum" VARCHAR(64) NOT NULL,
  "finished_at" TIMESTAMPTZ,
  "migration_name" VARCHAR(255) NOT NULL,
  "logs" TEXT,
  "rolled_back_at" TIMESTAMPTZ,
  "started_at" TIMESTAMPTZ NOT NULL DEFAULT now(),
  "applied_steps_count" INTEGER NOT NULL DEFAULT 0
)`

const readApplied = async (client: Client): Promise<readonly AppliedMigration[]> => {
  const table = await client.query<{ oid: string | null }>(`SELECT to_regclass('"_prisma_migrations"')::text AS oid`)
  if (!table.rows[0]?.oid) return []
  const { rows } = await client.query<AppliedMigration>(
    `SELECT "migration_name" AS "name", "checksum", "finished_at" IS NOT NULL AS "isFinished"
     FROM "_prisma_migrations" WHERE "rolled_back_at" IS NULL`,
  )
  return rows
}

const apply = async (client: Client, { name, sql, checksum }: Migration): Promise<void> => {
  await client.query(sql).catch((error: unknown) => {
    throw migrationFailed(name, error)
  })
  await client.query(
    `INSERT INTO "_prisma_migrations"
     ("id", "checksum", "migration_name", "finished_at", "applied_steps_count") VALUES ($1, $2, $3, now(), 1)`,
    [randomUUID(), checksum, name],
  )
}

export const openPostgresMigrations = async (target: PostgresTarget): Promise<MigratableDatabase> => {
  const client = new Client(toPgConfig(target))
  // If the connection is lost, pending queries reject. Without a listener, the event would also end the process.
  client.on('error', () => undefined)
  await client.connect()
  return {
    readApplied: () => readApplied(client),
    applyNext: async bundled => {
      await client.query('BEGIN')
      try {
        // Held until the transaction ends, so the lock is released if the process dies.
        await client.query('SELECT pg_advisory_xact_lock($1)', [PRISMA_ADVISORY_LOCK])
        await client.query(BOOKKEEPING)
        const [next] = planMigrations(bundled, await readApplied(client))
        if (next) await apply(client, next)
        await client.query('COMMIT')
        return next?.name
      } catch (error) {
        await client.query('ROLLBACK').catch(() => undefined)
        throw error
      }
    },
    close: () => client.end(),
  }
}
