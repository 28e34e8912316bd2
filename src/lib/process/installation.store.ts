import type { Transaction } from '../db/client.ts'
import { findMasterKeys, MasterKeyError, type MasterKeys, makeMasterKeys, masterKeyFile } from './master-keys.ts'
import { SealError, type Sealing } from './sealing.ts'

const CANARY_PREFIX = 'master-key:'
const CANARY_CONTEXT = { purpose: 'master-key-canary', ownerId: 'installation', name: 'canary' }
const CANARY_TEXT = 'patchbay'

const opens = (sealing: Pick<Sealing, 'open'>, keyId: string, text: string): boolean => {
  try {
    return sealing.open({ keyId, text }, CANARY_CONTEXT) === CANARY_TEXT
  } catch (error) {
    if (error instanceof SealError) return false
    throw error
  }
}

/** Returns the canaries of all master keys that this database has been started with, by key id. */
const readCanaries = async (tx: Transaction): Promise<ReadonlyMap<string, string>> => {
  const rows = await tx.installation.findMany({ where: { name: { startsWith: CANARY_PREFIX } } })
  return new Map(rows.map(({ name, value }) => [name.slice(CANARY_PREFIX.length), value]))
}

/**
 * Checks that the master keys match the database. `keyIdsInUse` are the ids of the keys with which data is sealed.
 * Throws MasterKeyError if a key is missing or cannot open its canary.
 */
export const checkMasterKeys = async (
  tx: Transaction,
  { keyIds: held, ...sealing }: Sealing,
  keyIdsInUse: readonly string[],
): Promise<void> => {
  const canaries = await readCanaries(tx)
  const missing = keyIdsInUse.find(keyId => !held.includes(keyId))
  const isStrange = canaries.size > 0 && !held.some(keyId => canaries.has(keyId))
  if (missing !== undefined || isStrange) {
    const wanted = missing ?? [...canaries.keys()].join(' or ')
    throw new MasterKeyError(
      `This database was sealed with master key ${wanted}, but the current key is ${held.join(', ')}: ` +
        'set PATCHBAY_MASTER_KEY (or the file master.key) to the key it was sealed with.',
    )
  }
  for (const keyId of held) {
    const canary = canaries.get(keyId)
    if (canary !== undefined && !opens(sealing, keyId, canary)) {
      throw new MasterKeyError(
        `Master key ${keyId} cannot open data that it sealed: the database or the key has been altered.`,
      )
    }
  }
}

/** Stores a canary sealed with the first key, so that a later start recognizes the key. */
export const enterMasterKeys = async (tx: Transaction, { keyIds: [first], seal }: Sealing): Promise<void> => {
  if (first === undefined) return
  const name = CANARY_PREFIX + first
  if ((await tx.installation.findUnique({ where: { name } })) !== null) return
  const value = seal(CANARY_TEXT, CANARY_CONTEXT).text
  // With an empty update, Prisma would run the upsert as a separate read and insert, and another process starting for
  // the first time could insert in between.
  await tx.installation.upsert({ where: { name }, create: { name, value }, update: { name } })
}

const assertNoneSealed = (canaries: ReadonlyMap<string, string>, directory: string): void => {
  if (canaries.size === 0) return
  throw new MasterKeyError(
    `This database was sealed with master key ${[...canaries.keys()].join(' or ')}, but ${masterKeyFile(directory)} ` +
      'is missing: restore the file from your backup, or set PATCHBAY_MASTER_KEY.',
  )
}

/** Throws MasterKeyError if this database was sealed with a key, because a new key could not open its data. */
export const assertUnsealed = async (tx: Transaction, directory: string): Promise<void> =>
  assertNoneSealed(await readCanaries(tx), directory)

/** Returns the master keys of a new installation, creating them unless another process has just done so. */
export const takeFirstMasterKeys = async (tx: Transaction, directory: string): Promise<MasterKeys> => {
  const canaries = await readCanaries(tx)
  // Read the file after the canaries, because a process creates the file before it stores a canary.
  const keys = findMasterKeys(undefined, directory)
  if (keys !== undefined) return keys
  assertNoneSealed(canaries, directory)
  return makeMasterKeys(directory)
}
