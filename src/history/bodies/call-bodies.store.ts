import { setImmediate } from 'node:timers/promises'
import type { Database, Transaction } from '../../lib/db/client.ts'
import type { OpenBodies, StoredBodies } from './call-bodies.ts'

/** Calls whose bodies are read at once. Reading on SQLite and decrypting block the thread. */
const BODIES_AT_ONCE = 20

/** Returns the bodies of a call, or undefined if none are stored. */
export const findBodies = async (
  db: Database,
  openBodies: OpenBodies,
  executionId: string,
): Promise<StoredBodies | undefined> => {
  const row = await db.callBodies.findUnique({ where: { executionId } })
  return row === null ? undefined : openBodies(row)
}

/** Returns those of the calls whose bodies match. */
export const findInBodies = async (
  db: Database,
  openBodies: OpenBodies,
  ids: readonly string[],
  matches: (text: string) => boolean,
): Promise<string[]> => {
  const found: string[] = []
  for (let first = 0; first < ids.length; first += BODIES_AT_ONCE) {
    const some = ids.slice(first, first + BODIES_AT_ONCE)
    for (const row of await db.callBodies.findMany({ where: { executionId: { in: some } } })) {
      const { request, response } = openBodies(row)
      if (matches(request?.text ?? '') || matches(response?.text ?? '')) found.push(row.executionId)
    }
    await setImmediate()
  }
  return found
}

/** Returns the ids of the keys with which bodies are encrypted. Looks each up in the index, because there may be millions of rows. */
export const listBodySealingKeyIds = async (tx: Transaction): Promise<string[]> => {
  const keyIds: string[] = []
  for (;;) {
    const next = await tx.callBodies.findFirst({
      where: { keyId: { gt: keyIds.at(-1) ?? '' } },
      orderBy: { keyId: 'asc' },
      select: { keyId: true },
    })
    if (next === null) return keyIds
    keyIds.push(next.keyId)
  }
}
