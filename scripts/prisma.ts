import { spawnSync } from 'node:child_process'
import { delimiter, dirname, join } from 'node:path'

const ROOT = join(import.meta.dirname, '..')

const TIMEOUT_MS = 60_000

/** Returns the environment for the Prisma CLI. The CLI's engine is our own script, which must run on the same Node. */
const environmentFor = (databaseUrl: string): NodeJS.ProcessEnv => ({
  ...process.env,
  DATABASE_URL: databaseUrl,
  PATH: [dirname(process.execPath), process.env.PATH].join(delimiter),
  PRISMA_HIDE_UPDATE_MESSAGE: '1',
  CHECKPOINT_DISABLE: '1',
})

/** Runs the Prisma CLI in the project's root. `output` combines stdout and stderr. */
export const runPrisma = (databaseUrl: string, args: readonly string[]) => {
  const cli = join(ROOT, 'node_modules/prisma/build/index.js')
  const run = spawnSync(process.execPath, [cli, ...args], {
    cwd: ROOT,
    env: environmentFor(databaseUrl),
    encoding: 'utf8',
    timeout: TIMEOUT_MS,
  })
  // A killed process has no status. Do not report it as a success.
  return { status: run.status ?? 1, output: `${run.stdout}${run.stderr}${run.error ? run.error.message : ''}` }
}
