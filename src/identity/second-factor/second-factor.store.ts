import type { Transaction } from '../../lib/db/client.ts'
import type { Sealed } from '../../lib/process/sealing.ts'

/** A second factor with its encrypted secret. Takes effect once confirmed. */
export type SecondFactor = { sealed: Sealed; confirmedAt: Date | undefined }

export const findSecondFactor = async (tx: Transaction, userId: string): Promise<SecondFactor | undefined> => {
  const row = await tx.secondFactor.findUnique({ where: { userId } })
  if (row === null) return undefined
  return { sealed: { keyId: row.keyId, text: row.secret }, confirmedAt: row.confirmedAt ?? undefined }
}

/** Stores an unconfirmed second factor. Replaces any previous unconfirmed one. */
export const setUnconfirmed = async (tx: Transaction, userId: string, sealed: Sealed): Promise<void> => {
  await tx.secondFactor.deleteMany({ where: { userId, confirmedAt: null } })
  await tx.secondFactor.create({ data: { userId, secret: sealed.text, keyId: sealed.keyId } })
}

/** Confirms the second factor that has this encrypted secret, and uses up the time step. */
export const confirmSecondFactor = async (
  tx: Transaction,
  userId: string,
  { sealed, step }: { sealed: Sealed; step: number },
): Promise<void> => {
  await tx.secondFactor.updateMany({
    where: { userId, confirmedAt: null, secret: sealed.text },
    data: { confirmedAt: new Date(), lastStep: step },
  })
}

/** Uses up a time step. Returns false if it or a later one was used before. Atomic, as it is a single statement. */
export const takeStep = async (tx: Transaction, userId: string, step: number): Promise<boolean> => {
  const { count } = await tx.secondFactor.updateMany({
    where: { userId, confirmedAt: { not: null }, OR: [{ lastStep: null }, { lastStep: { lt: step } }] },
    data: { lastStep: step },
  })
  return count > 0
}

/** Removes the second factor, also one that is not confirmed yet. Returns whether it was confirmed. */
export const removeSecondFactor = async (tx: Transaction, userId: string): Promise<boolean> => {
  await tx.recoveryCode.deleteMany({ where: { userId } })
  const removed = await tx.secondFactor.deleteMany({ where: { userId, confirmedAt: { not: null } } })
  await tx.secondFactor.deleteMany({ where: { userId } })
  return removed.count > 0
}

/** Replaces all recovery codes, used or not. */
export const replaceRecoveryCodes = async (
  tx: Transaction,
  userId: string,
  codeHashes: readonly string[],
): Promise<void> => {
  await tx.recoveryCode.deleteMany({ where: { userId } })
  await tx.recoveryCode.createMany({ data: codeHashes.map(codeHash => ({ userId, codeHash })) })
}

/** Uses up a recovery code. Returns false if no such unused code exists. Atomic because it is a single statement. */
export const takeRecoveryCode = async (
  tx: Transaction,
  userId: string,
  codeHash: string,
  usedAt: Date,
): Promise<boolean> =>
  (await tx.recoveryCode.updateMany({ where: { userId, codeHash, usedAt: null }, data: { usedAt } })).count > 0

export const countRecoveryCodes = (tx: Transaction, userId: string): Promise<number> =>
  tx.recoveryCode.count({ where: { userId, usedAt: null } })

/** Lists the IDs of the master keys that encrypt second factors. */
export const listSecondFactorKeyIds = async (tx: Transaction): Promise<string[]> => {
  const rows = await tx.secondFactor.groupBy({ by: ['keyId'] })
  return rows.map(({ keyId }) => keyId)
}
