import { createAccountService, createSessionStore } from './accounts/index.ts'
import { createExecutionService } from './execution/index.ts'
import { createRecorder } from './history/index.ts'
import { CONNECT_TIMEOUT_MS, MAX_SOCKETS_PER_ORIGIN } from './kernel/index.ts'
import { createDatabaseCounters } from './platform/counters/index.ts'
import { type DatabaseTarget, migrate, openDatabase } from './platform/db/index.ts'
import { createChanges, createEventBus } from './platform/events/index.ts'
import { assertMasterKeys } from './platform/installation.store.ts'
import type { Logger } from './platform/logger.ts'
import { loadMasterKeys } from './platform/master-keys.ts'
import { createAddressPolicy, createHttpClient } from './platform/net/index.ts'
import { createSealing } from './platform/sealing.ts'
import type { Settings } from './platform/settings.ts'
import { SAMPLE_ORIGIN, sampleApi } from './sample/index.ts'
import {
  createGlobalService,
  createInstanceService,
  createServerAccess,
  createServerService,
  createToolkitUseService,
  deriveServerChanges,
  listSealingKeyIds,
  uses,
} from './servers/index.ts'
import { createToolkitService, createToolService } from './toolkits/index.ts'
import { MIGRATIONS_DIRECTORY } from './version.ts'

/** What the first account must show when Patchbay listens beyond loopback; the same on every replica. */
const setupTokenOf = (settings: Settings, derived: readonly { key: Buffer }[]): string | undefined =>
  settings.listensOnLoopback ? undefined : derived[0]?.key.toString('hex').slice(0, 32)

export const migrateDatabase = (target: DatabaseTarget): Promise<readonly string[]> =>
  migrate(target, { directory: MIGRATIONS_DIRECTORY })

/** Every service, built once, in rank order. The database is migrated first; throws what keeps Patchbay from starting. */
export const buildServices = async (settings: Settings, logger: Logger) => {
  const { limits } = settings
  const sealing = createSealing(loadMasterKeys(settings.masterKeys, settings.dataDirectory))
  await migrateDatabase(settings.database)
  const db = await openDatabase(settings.database)
  await assertMasterKeys(db, sealing, await listSealingKeyIds(db))

  const bus = createEventBus({ logger })
  const changes = await createChanges({ db, target: settings.database, bus, logger })
  const http = createHttpClient({
    policy: createAddressPolicy({ allow: settings.allowPrivateNetworks }),
    maxRedirects: limits.maxRedirects,
    connectTimeoutMs: CONNECT_TIMEOUT_MS,
    maxSockets: MAX_SOCKETS_PER_ORIGIN,
    ownOrigins: [settings.baseUrl],
    inProcess: new Map([[SAMPLE_ORIGIN, sampleApi]]),
  })
  const recorder = createRecorder({ target: settings.database, logger })

  const setupToken = setupTokenOf(settings, sealing.derive('setup token'))
  const accounts = createAccountService({
    db,
    changes,
    bus,
    counters: createDatabaseCounters(db),
    logger,
    policy: { signup: settings.signup, tenancy: settings.tenancy, setupToken },
  })

  const toolkitParts = { db, changes, uses }
  const toolkits = createToolkitService(toolkitParts)
  const tools = createToolService({ ...toolkitParts, maxTimeoutMs: limits.maxToolTimeoutMs })

  const servers = createServerService({ db, changes })
  const globals = createGlobalService({ db, changes, sealing })
  const instances = createInstanceService({ db, changes, maxToolsPerServer: limits.maxToolsPerServer })
  const toolkitUses = createToolkitUseService({ db, changes })
  deriveServerChanges({ db, bus })

  const execution = createExecutionService({
    db,
    sealing,
    tools,
    instances,
    http,
    recorder,
    limits,
    onInternalError: error => logger.error({ err: error }, 'a call failed inside Patchbay'),
    onSkipped: (serverId, tool, reason) =>
      logger.error({ serverId, tool, reason }, 'a tool cannot be compiled and is left out'),
  })

  return {
    db,
    bus,
    sealing,
    recorder,
    setupToken,
    accounts,
    sessionStore: createSessionStore(db),
    toolkits,
    tools,
    servers,
    globals,
    instances,
    toolkitUses,
    execution,
    authorizeServer: createServerAccess(accounts.verifyMcpToken),
    close: async (): Promise<void> => {
      await recorder.close()
      await accounts.close()
      await changes.close()
      await http.close()
      await db.close()
    },
  }
}

export type Services = Awaited<ReturnType<typeof buildServices>>
