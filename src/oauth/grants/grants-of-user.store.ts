import type { Transaction } from '../../lib/db/client.ts'

/**
 * Removes all grants, codes, tokens, sessions and pending interactions of a user. Returns the number of grants.
 * `access_changed` must be announced afterwards.
 */
export const endGrantsOf = async (tx: Transaction, userId: string): Promise<number> => {
  const grants = await tx.oAuthArtifact.count({ where: { userId, kind: 'Grant' } })
  await tx.oAuthArtifact.deleteMany({ where: { userId } })
  return grants
}
