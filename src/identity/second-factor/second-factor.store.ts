import type { Transaction } from '../platform/db/index.ts'
import type { Sealed } from '../platform/sealing.ts'

/** A second factor with its secret, sealed. In force once it is confirmed. */
export type SecondFactor = { sealed: Sealed; confirmedAt: Date | undefined }

export const findSecondFactor = async (tx: Transaction, userId: string): Promise<SecondFactor | undefined> => {
  const row = await tx.secondFactor.findUnique({ where: { userId } })
  if (row === null) return undefined
  return { sealed: { keyId: row.keyId, text: row.secret }, confirmedAt: row.confirmedAt ?? undefined }
}

/** Puts one that is not in force yet in the place of another that is not either. */
export const setUnconfirmed = async (tx: Transaction, userId: string, sealed: Sealed): Promise<void> => {
  await tx.secondFactor.deleteMany({ where: { userId, confirmedAt: null } })
  await tx.secondFactor.create({ data: { userId, secret: sealed.text, keyId: sealed.keyId } })
}

/** Whether there was one to confirm: this very one, by its sealed secret. */
export const confirmSecondFactor = async (
  tx: Transaction,
  userId: string,
  { sealed, confirmedAt, step }: { sealed: Sealed; confirmedAt: Date; step: number },
): Promise<boolean> => {
  const { count } = await tx.secondFactor.updateMany({
    where: { userId, confirmedAt: null, secret: sealed.text },
    data: { confirmedAt, lastStep: step },
  })
  return count > 0
}

/** Takes a code's time step, once: false where it, or a later one, was taken before. One statement, so atomic. */
export const takeStep = async (tx: Transaction, userId: string, step: number): Promise<boolean> => {
  const { count } = await tx.secondFactor.updateMany({
    where: { userId, confirmedAt: { not: null }, OR: [{ lastStep: null }, { lastStep: { lt: step } }] },
    data: { lastStep: step },
  })
  return count > 0
}

/** Whether there was one in force. */
export const removeSecondFactor = async (tx: Transaction, userId: string): Promise<boolean> => {
  await tx.recoveryCode.deleteMany({ where: { userId } })
  const { count } = await tx.secondFactor.deleteMany({ where: { userId, confirmedAt: { not: null } } })
  return count > 0
}

/** Puts these in the place of all others, used or not. */
export const replaceRecoveryCodes = async (
  tx: Transaction,
  userId: string,
  codeHashes: readonly string[],
): Promise<void> => {
  await tx.recoveryCode.deleteMany({ where: { userId } })
  await tx.recoveryCode.createMany({ data: codeHashes.map(codeHash => ({ userId, codeHash })) })
}

/** Uses a code up: false where there is none of it left. One statement, so atomic. */
export const takeRecoveryCode = async (
  tx: Transaction,
  userId: string,
  codeHash: string,
  usedAt: Date,
): Promise<boolean> => {
  const { count } = await tx.recoveryCode.updateMany({ where: { userId, codeHash, usedAt: null }, data: { usedAt } })
  return count > 0
}

export const countRecoveryCodes = (tx: Transaction, userId: string): Promise<number> =>
  tx.recoveryCode.count({ where: { userId, usedAt: null } })

/** Ids of the master keys that sealed a second factor. */
export const listSecondFactorKeyIds = async (tx: Transaction): Promise<string[]> => {
  const rows = await tx.secondFactor.groupBy({ by: ['keyId'] })
  return rows.map(({ keyId }) => keyId)
}
