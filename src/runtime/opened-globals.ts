import { hash } from 'node:crypto'
import type { Database } from '../lib/db/client.ts'
import { once } from '../lib/kernel/once.ts'
import type { Credential } from '../lib/outbound/credentials.ts'
import type { Sealing } from '../lib/process/sealing.ts'
import { createMasker, type Masker } from '../results/mask/masking.ts'
import type { LongMasking, LongMaskingFor } from '../results/mask/masking-job.ts'
import { withRules } from '../results/mask/rules/masked-by-rules.ts'
import { listGlobals, openGlobal, toCredential } from '../servers/globals/globals.store.ts'
import type { MaskingRule } from '../servers/masking/masking-rule.ts'
import type { Global, Server } from '../servers/server.ts'

/**
 * A server's globals, with secrets decrypted. `version` changes whenever a global or a masking rule changes, and does not
 * reveal values.
 */
export type OpenedGlobals = {
  /** Plaintext values by key. */
  values: ReadonlyMap<string, string>
  secretKeys: ReadonlySet<string>
  /** Returns the origins of a secret. Returns undefined for any other global. */
  findCredential: (key: string) => Credential | undefined
  /** Masks the secrets, and what the server's masking rules match. */
  masker: Masker
  hasMaskingRules: boolean
  /** Whether the server stores the bodies of its calls. */
  storesBodies: boolean
  version: () => string
}

/** Computes the version from the stored rows, in which secrets are encrypted. */
const versionOf = (globals: readonly Global[], masking: readonly MaskingRule[]): (() => string) =>
  once(() => hash('sha256', JSON.stringify([globals, masking]), 'base64'))

/** A value that is not stored yet. `origins` are those that a secret may be sent to. */
export type GivenGlobal = { key: string; value: string; isSecret: boolean; origins: readonly string[] }

/** Stored globals and settings of a server that its calls need. */
type Stored = { globals: readonly Global[] } & Pick<Server, 'masking' | 'storesBodies'>

/** Decrypts a server's secrets, and adds `given`. Throws SealError if one of them cannot be decrypted. */
export const toOpenedGlobals = (
  { globals, masking, storesBodies }: Stored,
  sealing: Sealing,
  longMasking: LongMasking,
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
    masker: withRules(createMasker(secrets, longMasking), masking, longMasking),
    hasMaskingRules: masking.length > 0,
    storesBodies,
    version: versionOf(globals, masking),
  }
}

export const NO_GLOBALS: OpenedGlobals = {
  values: new Map(),
  secretKeys: new Set(),
  findCredential: () => undefined,
  masker: createMasker([]),
  hasMaskingRules: false,
  storesBodies: false,
  version: () => '',
}

export type GlobalParts = { db: Database; sealing: Sealing; longMaskingFor: LongMaskingFor }

type ServerOfGlobals = Pick<Server, 'id' | 'organizationId' | 'masking' | 'storesBodies'>

/** Reads a server's globals and decrypts the secrets. Does not check access. */
export const loadOpenedGlobals = async (
  { db, sealing, longMaskingFor }: GlobalParts,
  { id, organizationId, ...server }: ServerOfGlobals,
  given: readonly GivenGlobal[] = [],
): Promise<OpenedGlobals> => {
  const longMasking = longMaskingFor({ owner: id, group: organizationId })
  const { masking, storesBodies } = server
  return toOpenedGlobals({ globals: await listGlobals(db, id), masking, storesBodies }, sealing, longMasking, given)
}
