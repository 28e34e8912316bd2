import type { Database } from '../../lib/db/client.ts'
import type { Sealed, Sealing } from '../../lib/process/sealing.ts'
import type { Global } from '../server.ts'
import { listGlobals } from './globals.store.ts'

/** Ties a ciphertext to its server and key, so that it cannot be decrypted as another global. */
const contextOf = (serverId: string, key: string) => ({ purpose: 'server-global', ownerId: serverId, name: key })

/** Encrypts the value of a secret. */
export const sealGlobal = (value: string, serverId: string, key: string, sealing: Sealing): Sealed =>
  sealing.seal(value, contextOf(serverId, key))

/** Returns the value of a global. Throws SealError if a secret cannot be decrypted. */
export const openGlobal = (global: Global, sealing: Sealing): string =>
  global.isSecret ? sealing.open(global.sealed, contextOf(global.serverId, global.key)) : global.value

/** Creates a function that decrypts a server's globals, by key. Its result must never be shown. */
export const createGlobalOpener =
  ({ db, sealing }: { db: Database; sealing: Sealing }) =>
  async (serverId: string): Promise<ReadonlyMap<string, { value: string; isSecret: boolean }>> => {
    const globals = await listGlobals(db, serverId)
    return new Map(
      globals.map(global => [global.key, { value: openGlobal(global, sealing), isSecret: global.isSecret }]),
    )
  }
