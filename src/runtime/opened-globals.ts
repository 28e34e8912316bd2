import { createHash } from 'node:crypto'
import type { Database } from '../lib/db/client.ts'
import type { Sealing } from '../lib/process/sealing.ts'
import { createMasker, type FindInPool, type Masker } from '../results/mask/masking.ts'
import type { FindInPoolFor } from '../results/mask/masking-job.ts'
import { openGlobal } from '../servers/globals/global-secrets.ts'
import { listGlobals } from '../servers/globals/globals.store.ts'
import type { Global } from '../servers/server.ts'

/** A server's globals with secrets opened. `version` changes with every change of a global and reveals no value. */
export type OpenedGlobals = {
  /** By key, in plaintext. */
  values: ReadonlyMap<string, string>
  secretKeys: ReadonlySet<string>
  masker: Masker
  version: () => string
}

/** Computed from the stored rows, with sealed secrets. */
const versionOf = (globals: readonly Global[]): (() => string) => {
  let version: string | undefined
  return () => {
    version ??= createHash('sha256').update(JSON.stringify(globals)).digest('base64')
    return version
  }
}

/** Opens the secrets of a server. Throws SealError if one cannot be opened. */
export const toOpenedGlobals = (
  globals: readonly Global[],
  sealing: Sealing,
  findInPool: FindInPool,
): OpenedGlobals => {
  const values = new Map<string, string>()
  const secrets: string[] = []
  const secretKeys = new Set<string>()
  for (const global of globals) {
    const value = openGlobal(global, sealing)
    values.set(global.key, value)
    if (!global.isSecret) continue
    secrets.push(value)
    secretKeys.add(global.key)
  }
  return { values, secretKeys, masker: createMasker(secrets, findInPool), version: versionOf(globals) }
}

export const NO_GLOBALS: OpenedGlobals = {
  values: new Map(),
  secretKeys: new Set(),
  masker: createMasker([]),
  version: () => '',
}

export type GlobalParts = { db: Database; sealing: Sealing; findSecretsFor: FindInPoolFor }

/** Reads the globals of a server and opens its secrets. Does not check access. */
export const loadOpenedGlobals = async (
  { db, sealing, findSecretsFor }: GlobalParts,
  serverId: string,
  organizationId: string,
): Promise<OpenedGlobals> =>
  toOpenedGlobals(await listGlobals(db, serverId), sealing, findSecretsFor({ owner: serverId, group: organizationId }))
