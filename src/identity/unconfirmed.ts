import type { Actor } from '../lib/kernel/actor.ts'
import { AppError } from '../lib/kernel/errors.ts'

/**
 * Throws `conflict` if nobody has confirmed the email of the actor's account: it may be another person's, who must be
 * able to recover the account. `forbidden` completes "before you …". `errors` names the field at fault, if there is one.
 */
export const assertConfirmed = (
  { isUnconfirmed, email }: Actor,
  forbidden: string,
  errors?: { path: string; message: string }[],
): void => {
  if (!isUnconfirmed) return
  const how = `Open the link that was sent to ${email}, or request another on your account page`
  throw new AppError('conflict', `Confirm your email before you ${forbidden}. ${how}.`, { ...(errors && { errors }) })
}
