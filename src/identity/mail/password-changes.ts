import type { Transaction } from '../../lib/db/client.ts'
import type { Announce } from '../../lib/events/changes.ts'
import type { Actor } from '../../lib/kernel/actor.ts'
import { AppError } from '../../lib/kernel/errors.ts'
import type { JsonObject } from '../../lib/kernel/json.ts'
import { endEverything, endSessions, revokeAccess } from '../access-ending.ts'
import type { AccessToken, User } from '../account.ts'
import type { MailFlowParts } from '../account-parts.ts'
import * as userStore from '../accounts.store.ts'
import { writeAudit } from '../audit/audit.store.ts'
import { selfTarget, userActor, userTarget } from '../audit/audit-entry.ts'
import { DEMO_EMAIL } from '../demo-account.ts'
import { listTokens } from '../tokens/tokens.store.ts'
import { type EndedAccess, passwordChangedEmail, passwordResetEmail } from './emails.ts'
import { checkLink, findLinkedUserId, issueLink, takeLinkOfUser } from './mailed-links.service.ts'

/** Maximum number of tokens that the reset page lists. */
const MAX_LISTED = 100

/** The account of a reset link, with the consequences of the reset. */
export type Reset = {
  userId: string
  /** Whether nobody has confirmed the email, so that the reset ends everything. */
  isFirstProof: boolean
  tokens: readonly AccessToken[]
}

export type ResetInput = { token: string; password: string; revokeAll: boolean; address: string }

/** Operations that change a known password or reset a forgotten one through an emailed link. */
export const createPasswordChanges = (parts: MailFlowParts) => {
  const { db, changes, mailer, mailQueue, throttle, passwords, ownPassword, endGrantsOf, baseUrl } = parts

  const notify = (email: string, ended: EndedAccess, address: string | undefined): void => {
    const letter = passwordChangedEmail(email, ended, { baseUrl, address })
    mailQueue.post('password changed', () => mailer.send(letter))
  }

  const sendLink = async (email: string, address: string): Promise<void> => {
    const user = await userStore.findUserByEmail(db, email)
    if (user === undefined || email === DEMO_EMAIL) return
    const link = await issueLink(db, baseUrl, 'reset_password', { userId: user.id, email })
    await mailer.send(passwordResetEmail(email, link, { baseUrl, address }))
  }

  /** Ends what the user no longer wants, or everything if nobody had proved to receive mail at this address before. */
  const endAccess = async (tx: Transaction, userId: string, ended: EndedAccess): Promise<JsonObject> => {
    if (ended === 'everything') return endEverything(tx, userId, endGrantsOf)
    const sessions = await endSessions(tx, userId)
    return ended === 'sessions' ? sessions : { ...sessions, ...(await revokeAccess(tx, userId, endGrantsOf)) }
  }

  const setPassword = async (
    tx: Transaction,
    announce: Announce,
    { token, passwordHash, revokeAll, address }: Omit<ResetInput, 'password'> & { passwordHash: string },
  ): Promise<{ user: User; ended: EndedAccess }> => {
    const user = await takeLinkOfUser(tx, 'reset_password', token)
    const userId = user.id
    await userStore.updatePasswordHash(tx, userId, passwordHash)
    // Opening the link also verifies the email. Without email delivery it counted as verified before.
    const isFirstProof = (await userStore.markEmailVerified(tx, userId, new Date())) && mailer.isDelivering
    const ended = isFirstProof ? 'everything' : revokeAll ? 'all access' : 'sessions'
    const change = await endAccess(tx, userId, ended)
    const actor = userActor(user, address)
    await writeAudit(tx, { action: 'user.password_reset', actor, target: userTarget(user), change })
    announce({ type: 'access_changed', userId })
    return { user, ended }
  }

  /** Lifts the blocks caused by attempts with a wrong password, also in other processes. */
  const liftBlocks = async ({ id: userId, email }: User, address: string): Promise<void> => {
    await throttle.forgiveAccount({ email, address })
    // Processes that heard of the reset may have cached a block again before the counters were reset.
    await changes.commit(async (_, announce) => announce({ type: 'access_changed', userId }))
  }

  return {
    /** Sends the link in the background: neither the response nor its timing reveals whether the account exists. */
    requestReset: async ({ email, address }: { email: string; address: string }): Promise<void> => {
      await throttle.countMail('reset_password', { email, address })
      mailQueue.post('password reset', () => sendLink(email, address))
    },

    /** Returns what the reset page lists. Undefined if the link is not valid. */
    findReset: async (token: string): Promise<Reset | undefined> => {
      const userId = await findLinkedUserId(db, 'reset_password', token)
      const user = userId === undefined ? undefined : await userStore.findUser(db, userId)
      if (user === undefined) return undefined
      const tokens = await listTokens(db, user.id, { limit: MAX_LISTED, afterId: undefined })
      const isFirstProof = mailer.isDelivering && user.emailVerifiedAt === undefined
      return { userId: user.id, isFirstProof, tokens: tokens.slice(0, MAX_LISTED) }
    },

    /**
     * Sets the password and ends all sessions. Ends tokens and connected clients too if `revokeAll` is set, and
     * everything else if the email was unconfirmed. Throws `invalid_request` if the link has expired or has been used.
     * The user must still sign in, because the link does not replace their second factor.
     */
    resetPassword: async ({ password, ...input }: ResetInput): Promise<void> => {
      const { token, address } = input
      // The transaction below uses up the link. This check only avoids needless hashing.
      await checkLink(db, 'reset_password', token)
      const passwordHash = await passwords.hashPassword(password)
      const { user, ended } = await changes.commit((tx, announce) =>
        setPassword(tx, announce, { ...input, passwordHash }),
      )
      await liftBlocks(user, address)
      notify(user.email, ended, address)
    },

    /**
     * Ends every session, including the current one, which the caller must start again, and all connected clients.
     * Personal access tokens stay valid, because scripts use them. Throws like `prove`.
     */
    changePassword: (actor: Actor, input: { currentPassword: string; password: string }): Promise<void> =>
      ownPassword.prove(
        actor,
        input.currentPassword,
        async ({ id, email }, from) => {
          const to = await passwords.hashPassword(input.password)
          await changes.commit(async (tx, announce) => {
            if (!(await userStore.replacePasswordHash(tx, id, { from, to }))) {
              throw new AppError('conflict', 'The password was changed by another request in the meantime.')
            }
            const change = { ...(await endSessions(tx, id)), grantsEnded: await endGrantsOf(tx, id) }
            await writeAudit(tx, { action: 'user.password_changed', actor, target: selfTarget(actor), change })
            announce({ type: 'access_changed', userId: id })
          })
          notify(email, 'clients', actor.address)
        },
        'currentPassword',
      ),
  }
}
