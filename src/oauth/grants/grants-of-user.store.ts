import type { Transaction } from '../platform/db/index.ts'

/**
 * Ends what a user let applications do: every grant, code, token, session and question under way of the authorization
 * server. Answers how many grants there were. To be followed by `access_changed`.
 */
export const endGrantsOf = async (tx: Transaction, userId: string): Promise<number> => {
  const grants = await tx.oAuthArtifact.count({ where: { userId, kind: 'Grant' } })
  await tx.oAuthArtifact.deleteMany({ where: { userId } })
  return grants
}
