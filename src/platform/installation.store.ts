import type { Transaction } from './db/index.ts'
import { MasterKeyError } from './master-keys.ts'
import { SealError, type Sealing } from './sealing.ts'

const CANARY_PREFIX = 'master-key:'
const CANARY_CONTEXT = { purpose: 'master-key-canary', ownerId: 'installation', name: 'canary' }
const CANARY_TEXT = 'patchbay'

const opens = (sealing: Sealing, keyId: string, text: string): boolean => {
  try {
    return sealing.open({ keyId, text }, CANARY_CONTEXT) === CANARY_TEXT
  } catch (error) {
    if (error instanceof SealError) return false
    throw error
  }
}

/**
 * Holds the master keys against what the database was sealed with: each key leaves a sealed canary behind.
 * `keyIdsInUse`: ids of the keys that sealed something. Throws MasterKeyError, which names the key that is missing.
 */
export const assertMasterKeys = async (
  tx: Transaction,
  sealing: Sealing,
  keyIdsInUse: readonly string[],
): Promise<void> => {
  const rows = await tx.installation.findMany({ where: { name: { startsWith: CANARY_PREFIX } } })
  const canaries = new Map(rows.map(({ name, value }) => [name.slice(CANARY_PREFIX.length), value]))
  const held = sealing.keyIds
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
  const [first] = held
  if (first === undefined || canaries.has(first)) return
  const value = sealing.seal(CANARY_TEXT, CANARY_CONTEXT).text
  const name = CANARY_PREFIX + first
  await tx.installation.upsert({ where: { name }, create: { name, value }, update: {} })
}
