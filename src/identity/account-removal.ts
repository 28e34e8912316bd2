import type { Transaction } from '../lib/db/client.ts'
import type { Actor } from '../lib/kernel/actor.ts'
import { AppError } from '../lib/kernel/errors.ts'
import { accountGone } from './account.ts'
import * as store from './accounts.store.ts'
import { writeAudit } from './audit/audit.store.ts'
import { selfTarget } from './audit/audit-entry.ts'
import { DEMO_EMAIL } from './demo-account.ts'

/**
 * Returns why the account cannot be deleted, or undefined if it can be. The only operator cannot be deleted while other
 * accounts exist.
 */
export const findRemovalRefusal = async (tx: Transaction, userId: string): Promise<string | undefined> => {
  const user = await store.findUser(tx, userId)
  if (user?.isOperator !== true || (await store.isAnyOperatorBut(tx, userId))) return undefined
  if (!(await store.isAnyUserBut(tx, user.email, DEMO_EMAIL))) return undefined
  return 'You are the only operator of this installation, and other people use it. Create another operator first (patchbay user create --operator).'
}

/**
 * Deletes the account with its sessions, tokens, links, second factor and application grants. Its audit entries remain,
 * under its email. Throws `conflict` for the only operator while other accounts exist.
 */
export const removeAccount = async (tx: Transaction, actor: Actor): Promise<void> => {
  const refusal = await findRemovalRefusal(tx, actor.userId)
  if (refusal !== undefined) throw new AppError('conflict', refusal)
  if (!(await store.removeUser(tx, actor.userId))) throw accountGone()
  await writeAudit(tx, { action: 'user.removed', actor, target: selfTarget(actor) })
}
