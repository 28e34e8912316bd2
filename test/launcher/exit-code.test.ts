import { spawnSync } from 'node:child_process'
import { join } from 'node:path'
import { expect, it } from 'vitest'

const POSTGRES = join(import.meta.dirname, '../../scripts/embedded-postgres.ts')

it('a failed test run that used the embedded PostgreSQL keeps its exit code', () => {
  const program = `
    const { startEmbeddedPostgres } = await import(${JSON.stringify(POSTGRES)})
    const server = await startEmbeddedPostgres()
    await server.stop()
    process.exitCode = 3`
  expect(spawnSync(process.execPath, ['--input-type=module', '-e', program]).status).toBe(3)
}, 60_000)
