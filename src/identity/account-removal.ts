import { type Actor, AppError } from '../kernel/index.ts'
import { writeAudit } from '../platform/audit/index.ts'
import type { Transaction } from '../platform/db/index.ts'
import * as store from './accounts.store.ts'
import { DEMO_EMAIL } from './demo-account.ts'

/** Why the account cannot go: it is the only operator's, and others would be left without one. */
export const findRemovalRefusal = async (tx: Transaction, userId: string): Promise<string | undefined> => {
  const user = await store.findUser(tx, userId)
  if (user?.isOperator !== true || (await store.isAnyOperatorBut(tx, userId))) return undefined
  if (!(await store.isAnyUserBut(tx, user.email, DEMO_EMAIL))) return undefined
  return 'You are the only operator of this installation: others use it, so there must be another one first (patchbay user create --operator).'
}

/**
 * The account goes, and with it its sessions, tokens, links, second factor and what applications may do in its name.
 * What it did stays in the audit log, under its address. Throws `conflict` for the only operator while there are others.
 */
export const removeAccount = async (tx: Transaction, actor: Actor): Promise<void> => {
  const refusal = await findRemovalRefusal(tx, actor.userId)
  if (refusal !== undefined) throw new AppError('conflict', refusal)
  if (!(await store.removeUser(tx, actor.userId))) throw new AppError('unauthenticated', 'This account is gone.')
  const target = { type: 'user', id: actor.userId, name: actor.email }
  await writeAudit(tx, { action: 'user.removed', actor, target })
}
