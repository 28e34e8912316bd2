import { Client } from 'pg'
import type { TestProject } from 'vitest/node'
import { startEmbeddedPostgres } from '../../scripts/embedded-postgres.ts'
import { MIGRATIONS_ROOT } from '../../scripts/migrations.ts'
import { migrate } from '../../src/lib/db/migrate.ts'

declare module 'vitest' {
  export interface ProvidedContext {
    postgres: PostgresForTests
  }
}

/** One server for the whole run. `template` is the name of a migrated database on it that tests copy. */
export type PostgresForTests = { adminUrl: string; template: string }

const TEMPLATE = 'patchbay_template'

/** Vitest's globalSetup: starts the server before the first test file and returns a function that stops it. */
export default async function setUp(project: TestProject): Promise<() => Promise<void>> {
  const server = await startEmbeddedPostgres()
  try {
    const adminUrl = server.urlOf('postgres')
    const client = new Client({ connectionString: adminUrl })
    await client.connect()
    await client.query(`CREATE DATABASE "${TEMPLATE}"`)
    await client.end()
    await migrate({ kind: 'postgresql', url: server.urlOf(TEMPLATE) }, MIGRATIONS_ROOT)
    project.provide('postgres', { adminUrl, template: TEMPLATE })
    return server.stop
  } catch (error) {
    await server.stop()
    throw error
  }
}
