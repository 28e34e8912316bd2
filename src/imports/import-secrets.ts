import { z } from 'zod'
import type { Sealed, Sealing } from '../lib/process/sealing.ts'

const Values = z.record(z.string(), z.string())

const contextOf = (importId: string) => ({ purpose: 'import', ownerId: importId, name: 'secrets' })

/** Encrypts the values of an import's secrets. */
export const sealSecrets = (sealing: Sealing, importId: string, values: ReadonlyMap<string, string>): Sealed =>
  sealing.seal(JSON.stringify(Object.fromEntries(values)), contextOf(importId))

/** Returns the values of an import's secrets by key. Throws SealError if they cannot be decrypted. */
export const openSecrets = (
  sealing: Sealing,
  importId: string,
  sealed: Sealed | undefined,
): ReadonlyMap<string, string> =>
  sealed === undefined
    ? new Map()
    : new Map(Object.entries(Values.parse(JSON.parse(sealing.open(sealed, contextOf(importId))))))
