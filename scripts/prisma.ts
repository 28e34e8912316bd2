import { spawnSync } from 'node:child_process'
import { delimiter, dirname, join } from 'node:path'

const ROOT = join(import.meta.dirname, '..')

export type PrismaRun = { status: number; output: string }

/** For the given database; the CLI's engine is a script of ours, which must run on the Node that runs us. */
const environmentFor = (databaseUrl: string): NodeJS.ProcessEnv => ({
  ...process.env,
  DATABASE_URL: databaseUrl,
  PATH: [dirname(process.execPath), process.env.PATH].join(delimiter),
  PRISMA_HIDE_UPDATE_MESSAGE: '1',
  CHECKPOINT_DISABLE: '1',
})

/** Runs the Prisma CLI in the project's root; `output` is what it said, on both streams. */
export const runPrisma = (databaseUrl: string, args: readonly string[], timeoutMs = 60_000): PrismaRun => {
  const cli = join(ROOT, 'node_modules/prisma/build/index.js')
  const run = spawnSync(process.execPath, [cli, ...args], {
    cwd: ROOT,
    env: environmentFor(databaseUrl),
    encoding: 'utf8',
    timeout: timeoutMs,
  })
  // A run that was killed has no status, and must not read as a success.
  return { status: run.status ?? 1, output: `${run.stdout}${run.stderr}${run.error ? run.error.message : ''}` }
}
