import type { Database } from '../../lib/db/client.ts'
import type { Sealing } from '../../lib/process/sealing.ts'
import type { Global } from '../server.ts'
import { globalSealContext } from './globals.service.ts'
import { listGlobals } from './globals.store.ts'

/** A global's value, whichever it is; throws SealError where a secret does not open. */
export const openGlobal = (global: Global, sealing: Sealing): string =>
  global.isSecret ? sealing.open(global.sealed, globalSealContext(global.serverId, global.key)) : global.value

/** Opens the globals of a server by their keys: for what is made of them, never to be shown. */
export const createGlobalOpener =
  ({ db, sealing }: { db: Database; sealing: Sealing }) =>
  async (serverId: string): Promise<ReadonlyMap<string, { value: string; isSecret: boolean }>> => {
    const globals = await listGlobals(db, serverId)
    return new Map(
      globals.map(global => [global.key, { value: openGlobal(global, sealing), isSecret: global.isSecret }]),
    )
  }
