import { listSecondFactorKeyIds } from './identity/second-factor/second-factor.store.ts'
import { openDatabase, type Transaction } from './lib/db/client.ts'
import { checkMasterKeys, enterMasterKeys, takeFirstMasterKeys } from './lib/process/installation.store.ts'
import { findMasterKeys } from './lib/process/master-keys.ts'
import { createSealing } from './lib/process/sealing.ts'
import type { Settings } from './lib/process/settings.ts'
import { migrateDatabase } from './migrate-database.ts'
import { listOAuthSealingKeyIds } from './oauth/sealing-key-ids.ts'
import { listSealingKeyIds } from './servers/globals/globals.store.ts'
import { listUpstreamSealingKeyIds } from './upstreams/oauth-client/clients.store.ts'

/** What the first account must show when Patchbay listens beyond loopback; the same on every replica. */
export const setupTokenOf = (settings: Settings, derived: readonly { key: Buffer }[]): string | undefined =>
  settings.listensOnLoopback ? undefined : derived[0]?.key.toString('hex').slice(0, 32)

/** Ids of the master keys that sealed anything that is still there: none of them can be done without. */
export const listKeyIdsInUse = async (db: Transaction): Promise<string[]> =>
  (
    await Promise.all([
      listSealingKeyIds(db),
      listSecondFactorKeyIds(db),
      listOAuthSealingKeyIds(db),
      listUpstreamSealingKeyIds(db),
    ])
  ).flat()

/** The database, migrated, and what opens its secrets. Throws what speaks against using it, and leaves it closed. */
export const openInstallation = async ({ database, masterKeys, dataDirectory }: Settings) => {
  // Before the database is touched: a bad key is refused first.
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
