import { z } from 'zod'
import type { Database, Rows, Transaction } from '../../lib/db/client.ts'
import { type IdPage, idPageQuery } from '../../lib/http/id-paging.ts'
import { mapFound } from '../../lib/kernel/missing.ts'
import type { Credential } from '../../lib/outbound/credentials.ts'
import type { Sealing } from '../../lib/process/sealing.ts'
import type { DecryptedGlobals } from '../../upstreams/config/compiled-config.ts'
import type { Global, OriginsBy, SecretOrigins } from '../server.ts'

export type SetOrigins = Pick<SecretOrigins, 'origins' | 'originsBy'>

/** Ties a ciphertext to its server and key, so that it cannot be decrypted as another global. */
const contextOf = (serverId: string, key: string) => ({ purpose: 'server-global', ownerId: serverId, name: key })

const StoredOrigins = z.array(z.string()).nullable()

const areSet = (by: OriginsBy): boolean => by === 'storer' || by === 'manager'

const toGlobal = ({ isSecret, value, keyId, origins, originsBy, storedBy, ...row }: Rows.Global): Global => {
  if (!isSecret) return { ...row, isSecret: false, value }
  return {
    ...row,
    isSecret: true,
    sealed: { keyId: keyId ?? '', text: value },
    origins: areSet(originsBy) ? (StoredOrigins.parse(origins) ?? []) : undefined,
    originsBy,
    storedBy: storedBy ?? undefined,
  }
}

export const listGlobals = async (tx: Transaction, serverId: string): Promise<Global[]> =>
  (await tx.global.findMany({ where: { serverId }, orderBy: { key: 'asc' } })).map(toGlobal)

export const listSecretKeys = async (tx: Transaction, serverId: string): Promise<ReadonlySet<string>> => {
  const rows = await tx.global.findMany({ where: { serverId, isSecret: true }, select: { key: true } })
  return new Set(rows.map(({ key }) => key))
}

export const listGlobalPage = async (tx: Transaction, serverId: string, page: IdPage): Promise<Global[]> =>
  (await tx.global.findMany(idPageQuery(page, { serverId }))).map(toGlobal)

export const findGlobal = async (tx: Transaction, serverId: string, key: string): Promise<Global | undefined> =>
  mapFound(await tx.global.findUnique({ where: { serverId_key: { serverId, key } } }), toGlobal)

export const countGlobals = (tx: Transaction, serverId: string): Promise<number> =>
  tx.global.count({ where: { serverId } })

/** Returns the total size of a server's encrypted secrets, in bytes. */
export const countSecretBytes = async (tx: Transaction, serverId: string): Promise<number> => {
  const rows = await tx.global.findMany({ where: { serverId, isSecret: true }, select: { value: true } })
  return rows.reduce((bytes, { value }) => bytes + Buffer.byteLength(value, 'base64'), 0)
}

const toStoredOrigins = ({ origins, originsBy }: SetOrigins) => ({ origins: [...(origins ?? [])], originsBy })

/** Creates or replaces a global. Encrypts the value of a secret. */
export const putGlobal = async (
  tx: Transaction,
  sealing: Sealing,
  serverId: string,
  key: string,
  { value, isSecret, storedBy, ...origins }: { value: string; isSecret: boolean; storedBy: string } & SetOrigins,
): Promise<Global> => {
  const stored = isSecret ? sealing.seal(value, contextOf(serverId, key)) : { text: value, keyId: null }
  const data = { isSecret, value: stored.text, keyId: stored.keyId, storedBy, ...toStoredOrigins(origins) }
  const where = { serverId_key: { serverId, key } }
  return toGlobal(await tx.global.upsert({ where, create: { serverId, key, ...data }, update: data }))
}

/** Sets a secret's origins, but not its value. */
export const setOrigins = async (tx: Transaction, id: string, origins: SetOrigins): Promise<Global> =>
  toGlobal(await tx.global.update({ where: { id }, data: toStoredOrigins(origins) }))

/** Lists the servers with secrets from before secrets had origins. */
export const listServersWithPendingOrigins = async (tx: Transaction): Promise<string[]> => {
  const where = { isSecret: true, originsBy: 'pending' } as const
  const rows = await tx.global.findMany({ where, select: { serverId: true }, distinct: ['serverId'] })
  return rows.map(({ serverId }) => serverId)
}

export const removeGlobal = async (tx: Transaction, serverId: string, key: string): Promise<void> => {
  await tx.global.deleteMany({ where: { serverId, key } })
}

/** Returns the value of a global. Throws SealError if a secret cannot be decrypted. */
export const openGlobal = (global: Global, sealing: Sealing): string =>
  global.isSecret ? sealing.open(global.sealed, contextOf(global.serverId, global.key)) : global.value

/** Returns the secret's name and origins, which every request that contains it is checked against. */
export const toCredential = ({ key, origins = [] }: Pick<SecretOrigins, 'origins'> & { key: string }): Credential => ({
  name: key,
  origins,
})

/** Creates a function that decrypts a server's globals, by key. Its result must never be shown. */
export const createGlobalOpener =
  ({ db, sealing }: { db: Database; sealing: Sealing }) =>
  async (serverId: string): Promise<DecryptedGlobals> => {
    const globals = await listGlobals(db, serverId)
    return new Map(
      globals.map(global => [
        global.key,
        { value: openGlobal(global, sealing), credential: global.isSecret ? toCredential(global) : undefined },
      ]),
    )
  }

/** Lists the IDs of the master keys that stored secrets are encrypted with. These keys must not be removed. */
export const listSealingKeyIds = async (tx: Transaction): Promise<string[]> => {
  // The database groups the rows, because there may be many secrets and this runs on every start.
  const rows = await tx.global.groupBy({ by: ['keyId'], where: { isSecret: true } })
  return rows.flatMap(row => row.keyId ?? [])
}
