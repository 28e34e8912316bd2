import { z } from 'zod'
import { type SealContext, SealError, type Sealed, type Sealing } from '../../lib/process/sealing.ts'
import type { CallBodies } from '../execution-record.ts'

const contextOf = (executionId: string): SealContext => ({
  purpose: 'call bodies',
  ownerId: executionId,
  name: 'bodies',
})

/** Encrypts the bodies of a call. Symbols, and so the mark of masked bodies, are not part of JSON. */
export const sealBodies = (sealing: Pick<Sealing, 'seal'>, executionId: string, bodies: CallBodies): Sealed =>
  sealing.seal(JSON.stringify(bodies), contextOf(executionId))

const Body = z.object({ text: z.string(), isCut: z.boolean() })
const StoredBodies = z.object({ request: Body.optional(), response: Body.optional() })
export type StoredBodies = z.output<typeof StoredBodies>

/** The row of a call's bodies. */
export type BodiesColumns = { executionId: string; content: string; keyId: string }

/** Decrypts the bodies of a call. */
export type OpenBodies = (row: BodiesColumns) => StoredBodies

/** Bodies that were altered in the database, or whose key is gone, count as missing, so that the call can still be read. */
export const createBodyOpener =
  (sealing: Pick<Sealing, 'open'>): OpenBodies =>
  ({ executionId, content, keyId }) => {
    try {
      return StoredBodies.parse(JSON.parse(sealing.open({ text: content, keyId }, contextOf(executionId))))
    } catch (error) {
      if (error instanceof SealError) return {}
      throw error
    }
  }
