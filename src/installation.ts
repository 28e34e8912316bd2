import { listBodySealingKeyIds } from './history/bodies/call-bodies.store.ts'
import { listSecondFactorKeyIds } from './identity/second-factor/second-factor.store.ts'
import type { Setup } from './identity/sign-in/sign-up.ts'
import { listImportSealingKeyIds } from './imports/imports.store.ts'
import { openDatabase, type Transaction } from './lib/db/client.ts'
import { migrate } from './lib/db/migrate.ts'
import type { DatabaseTarget } from './lib/db/target.ts'
import { isLoopbackHost } from './lib/http/origins.ts'
import { checkMasterKeys, enterMasterKeys, takeFirstMasterKeys } from './lib/process/installation.store.ts'
import { findMasterKeys } from './lib/process/master-keys.ts'
import { createSealing } from './lib/process/sealing.ts'
import type { Settings } from './lib/process/settings.ts'
import { MIGRATIONS_DIRECTORY } from './lib/process/version.ts'
import { listClientSealingKeyIds } from './oauth/clients/known-clients.store.ts'
import { listSigningSealingKeyIds } from './oauth/signing-keys.store.ts'
import { listSealingKeyIds } from './servers/globals/globals.store.ts'
import { listUpstreamSealingKeyIds } from './upstreams/oauth-client/clients.store.ts'
import { listWebhookSealingKeyIds } from './webhooks/webhooks.store.ts'

/** Returns whether, by its settings, nobody but the users of this machine can reach Patchbay. */
const isForThisMachine = ({ listensOnLoopback, baseUrl, trustProxy }: Settings): boolean =>
  listensOnLoopback && isLoopbackHost(new URL(baseUrl).host) && trustProxy.length === 0

/** Returns who needs the setup token. The token is the same on every replica. */
export const setupOf = (settings: Settings, derived: readonly { key: Buffer }[]): Setup => ({
  token: derived[0]?.key.toString('hex').slice(0, 32),
  isAlwaysRequired: !isForThisMachine(settings),
})

/** Returns the ids of the master keys that encrypt existing data. */
export const listKeyIdsInUse = async (db: Transaction): Promise<string[]> =>
  (
    await Promise.all([
      listSealingKeyIds(db),
      listSecondFactorKeyIds(db),
      listClientSealingKeyIds(db),
      listSigningSealingKeyIds(db),
      listUpstreamSealingKeyIds(db),
      listImportSealingKeyIds(db),
      listWebhookSealingKeyIds(db),
      listBodySealingKeyIds(db),
    ])
  ).flat()

/** Applies pending migrations and returns their names. */
export const migrateDatabase = (target: DatabaseTarget): Promise<readonly string[]> =>
  migrate(target, MIGRATIONS_DIRECTORY)

/**
 * Opens and migrates the database, and checks the master keys. Closes the database and throws if the keys are wrong.
 */
export const openInstallation = async ({ database, masterKeys, dataDirectory }: Settings) => {
  // Runs first, so that an invalid key is reported before the database changes.
  const keys = findMasterKeys(masterKeys, dataDirectory)
  await migrateDatabase(database)
  const db = await openDatabase(database)
  try {
    const sealing = createSealing(keys ?? (await takeFirstMasterKeys(db, dataDirectory)))
    await checkMasterKeys(db, sealing, await listKeyIdsInUse(db))
    await enterMasterKeys(db, sealing)
    return { db, sealing }
  } catch (error) {
    await db.close()
    throw error
  }
}
