import { rm } from 'node:fs/promises'
import { join } from 'node:path'
import { makeScratchFolder } from '../../scripts/scratch-folder.ts'
import { type App, buildApp } from '../../src/app.ts'
import { createLogger } from '../../src/lib/process/logger.ts'
import { loadSettings, type Settings } from '../../src/lib/process/settings.ts'
import { buildServices, type ServiceOptions, type Services } from '../../src/services.ts'
import { BUILT_JOBS } from './built-jobs.ts'
import { freePort } from './free-port.ts'
import { runMark } from './leftovers.ts'
import { MASTER_KEY } from './setup-token.ts'
import { writeMigratedSqlite } from './sqlite.ts'

export type TestApp = {
  /** `http://localhost:PORT`. */
  origin: string
  /** The folder of the app's files, except for a database that was passed in. */
  directory: string
  settings: Settings
  services: Services
  app: App
  close: () => Promise<void>
}

export type TestAppOptions = {
  /** Default: a new SQLite file. */
  databaseUrl?: string
  /** Additional settings, as environment variables. */
  env?: Record<string, string>
  /** Options for which there is no setting. */
  services?: ServiceOptions
}

/** Parameters for fast password hashing: passwords in tests need no protection. */
const LIGHT_HASHING = { memoryKib: 8, passes: 1 }

/** Starts the application on a free port, with its own database. Its tools may call loopback addresses. */
export const startTestApp = async ({
  databaseUrl,
  env = {},
  services: options,
}: TestAppOptions = {}): Promise<TestApp> => {
  const directory = makeScratchFolder('patchbay-test-')
  const port = await freePort()
  if (databaseUrl === undefined) await writeMigratedSqlite(join(directory, 'patchbay.db'))
  const given = loadSettings(
    {
      PATCHBAY_PORT: String(port),
      DATABASE_URL: databaseUrl ?? `file:${join(directory, 'patchbay.db')}`,
      PATCHBAY_MASTER_KEY: MASTER_KEY,
      PATCHBAY_ALLOW_PRIVATE_NETWORKS: '127.0.0.0/8,::1/128',
      ...env,
    },
    directory,
  )
  const settings = { ...given, commandEnvironment: { ...given.commandEnvironment, ...runMark() } }
  const logger = createLogger(env.PATCHBAY_LOG_LEVEL ?? 'silent')
  const services = await buildServices(settings, logger, {
    hashingCost: LIGHT_HASHING,
    jobsWorker: BUILT_JOBS,
    ...options,
  })
  const app = await buildApp(settings, services, logger)
  await app.http.listen({ host: '127.0.0.1', port })
  return {
    origin: `http://localhost:${port}`,
    directory,
    settings,
    services,
    app,
    close: async () => {
      app.beginStop()
      app.http.server.closeAllConnections()
      await app.http.close()
      await services.close()
      await rm(directory, { recursive: true, force: true })
    },
  }
}
