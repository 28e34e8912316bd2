import { hash } from 'node:crypto'
import type { Database } from '../lib/db/client.ts'
import { once } from '../lib/kernel/once.ts'
import type { Credential } from '../lib/outbound/credentials.ts'
import type { Sealing } from '../lib/process/sealing.ts'
import { createMasker, type Masker, type SecretSearch } from '../results/mask/masking.ts'
import type { SecretSearchFor } from '../results/mask/masking-job.ts'
import { listGlobals, openGlobal, toCredential } from '../servers/globals/globals.store.ts'
import type { Global } from '../servers/server.ts'

/**
 * A server's globals, with secrets decrypted. `version` changes whenever a global changes, and does not reveal values.
 */
export type OpenedGlobals = {
  /** Plaintext values by key. */
  values: ReadonlyMap<string, string>
  secretKeys: ReadonlySet<string>
  /** Returns the origins of a secret. Returns undefined for any other global. */
  findCredential: (key: string) => Credential | undefined
  masker: Masker
  version: () => string
}

/** Computes the version from the stored rows, in which secrets are encrypted. */
const versionOf = (globals: readonly Global[]): (() => string) =>
  once(() => hash('sha256', JSON.stringify(globals), 'base64'))

/** A value that is not stored yet. `origins` are those that a secret may be sent to. */
export type GivenGlobal = { key: string; value: string; isSecret: boolean; origins: readonly string[] }

/** Decrypts a server's secrets, and adds `given`. Throws SealError if one of them cannot be decrypted. */
export const toOpenedGlobals = (
  globals: readonly Global[],
  sealing: Sealing,
  secretSearch: SecretSearch,
  given: readonly GivenGlobal[] = [],
): OpenedGlobals => {
  const values = new Map<string, string>()
  const secrets: string[] = []
  const secretKeys = new Set<string>()
  const credentials = new Map<string, Credential>()
  const opened = globals.map(global => ({ ...global, value: openGlobal(global, sealing) }))
  for (const global of [...opened, ...given]) {
    const { key, value } = global
    values.set(key, value)
    if (!global.isSecret) continue
    secrets.push(value)
    secretKeys.add(key)
    credentials.set(key, toCredential(global))
  }
  return {
    values,
    secretKeys,
    findCredential: key => credentials.get(key),
    masker: createMasker(secrets, secretSearch),
    version: versionOf(globals),
  }
}

export const NO_GLOBALS: OpenedGlobals = {
  values: new Map(),
  secretKeys: new Set(),
  findCredential: () => undefined,
  masker: createMasker([]),
  version: () => '',
}

export type GlobalParts = { db: Database; sealing: Sealing; secretSearchFor: SecretSearchFor }

type ServerOfGlobals = { id: string; organizationId: string }

/** Reads a server's globals and decrypts the secrets. Does not check access. */
export const loadOpenedGlobals = async (
  { db, sealing, secretSearchFor }: GlobalParts,
  { id, organizationId }: ServerOfGlobals,
  given: readonly GivenGlobal[] = [],
): Promise<OpenedGlobals> => {
  const secretSearch = secretSearchFor({ owner: id, group: organizationId })
  return toOpenedGlobals(await listGlobals(db, id), sealing, secretSearch, given)
}
