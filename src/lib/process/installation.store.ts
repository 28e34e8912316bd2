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

/** What each key left behind that this database was ever started with, by the key's id. */
const readCanaries = async (tx: Transaction): Promise<ReadonlyMap<string, string>> => {
  const rows = await tx.installation.findMany({ where: { name: { startsWith: CANARY_PREFIX } } })
  return new Map(rows.map(({ name, value }) => [name.slice(CANARY_PREFIX.length), value]))
}

/**
 * Holds the master keys against what the database was sealed with. `keyIdsInUse`: ids of the keys that sealed
 * something. Throws MasterKeyError, which names the key that is missing.
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
      `This database was sealed with master key ${wanted}, but the key given is ${held.join(', ')}: ` +
        'set PATCHBAY_MASTER_KEY (or the file master.key) to the one it was sealed with.',
    )
  }
  for (const keyId of held) {
    const canary = canaries.get(keyId)
    if (canary !== undefined && !opens(sealing, keyId, canary)) {
      throw new MasterKeyError(`Master key ${keyId} does not open what it sealed: the database or the key was altered.`)
    }
  }
}

/** Lets the first key leave a sealed canary behind, by which a later start knows it again. */
export const enterMasterKeys = async (tx: Transaction, { keyIds: [first], seal }: Sealing): Promise<void> => {
  if (first === undefined) return
  const name = CANARY_PREFIX + first
  if ((await tx.installation.findUnique({ where: { name } })) !== null) return
  const value = seal(CANARY_TEXT, CANARY_CONTEXT).text
  // With nothing to update it would be a look and an insert, between which another first start comes.
  await tx.installation.upsert({ where: { name }, create: { name, value }, update: { name } })
}

const assertNoneSealed = (canaries: ReadonlyMap<string, string>, directory: string): void => {
  if (canaries.size === 0) return
  throw new MasterKeyError(
    `This database was sealed with master key ${[...canaries.keys()].join(' or ')}, but ${masterKeyFile(directory)} ` +
      'is not there: put the file back from your backup, or set PATCHBAY_MASTER_KEY.',
  )
}

/** Throws MasterKeyError where a key sealed this database: with one made now nothing of it would open. */
export const assertUnsealed = async (tx: Transaction, directory: string): Promise<void> =>
  assertNoneSealed(await readCanaries(tx), directory)

/** The keys of an installation whose first start this is, or was a moment ago in another process. */
export const takeFirstMasterKeys = async (tx: Transaction, directory: string): Promise<MasterKeys> => {
  const canaries = await readCanaries(tx)
  // Looked for after that: whoever left a canary had made the file before.
  const keys = findMasterKeys(undefined, directory)
  if (keys !== undefined) return keys
  assertNoneSealed(canaries, directory)
  return makeMasterKeys(directory)
}
