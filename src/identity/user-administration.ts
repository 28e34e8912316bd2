import { z } from 'zod'
import type { Database, Transaction } from '../lib/db/client.ts'
import type { Changes } from '../lib/events/changes.ts'
import type { IdPage } from '../lib/http/id-paging.ts'
import { parseInput } from '../lib/http/validation.ts'
import { AppError } from '../lib/kernel/errors.ts'
import { orThrow } from '../lib/kernel/missing.ts'
import { endSessions } from './access-ending.ts'
import type { User } from './account.ts'
import { Email, newPassword } from './accounts.schema.ts'
import * as store from './accounts.store.ts'
import { writeAudit } from './audit/audit.store.ts'
import { userTarget } from './audit/audit-entry.ts'
import { issueLink } from './mail/mailed-links.service.ts'
import type { Passwords } from './passwords.ts'
import { type ListedUser, listAllUsers } from './user-list.store.ts'

export type UserAdministrationParts = {
  db: Database
  changes: Changes
  passwords: Pick<Passwords, 'hashPassword'>
  baseUrl: string
}

/** Manages the accounts of other users for the operator, on the command line or through the API. */
export const createUserAdministration = ({ db, changes, passwords, baseUrl }: UserAdministrationParts) => {
  /** Finds a user by email. Throws `not_found` if no account has it. */
  const getUserByEmail = async (email: string): Promise<User> => {
    const found = await store.findUserByEmail(db, parseInput(z.object({ email: Email }), { email }).email)
    return orThrow(found, () => new AppError('not_found', `No user has the email ${email}.`))
  }

  const setPassword = async (tx: Transaction, user: User, passwordHash: string): Promise<void> => {
    await store.updatePasswordHash(tx, user.id, passwordHash)
    const change = await endSessions(tx, user.id)
    await writeAudit(tx, { action: 'user.password_reset', actor: undefined, target: userTarget(user), change })
  }

  return {
    getUserByEmail,

    /** Lists all accounts, oldest first. `search` filters by email. */
    listUsers: (search: string, page: IdPage): Promise<ListedUser[]> => listAllUsers(db, search, page),

    /** Creates a link with which the user can set a new password once, for users who get no email. */
    createResetLink: async (email: string): Promise<string> => {
      const user = await getUserByEmail(email)
      return issueLink(db, baseUrl, 'reset_password', { userId: user.id, email: user.email })
    },

    /** Replaces a user's password and ends their sessions. Tokens and connected clients stay valid. */
    setPasswordOf: async (email: string, input: { password: string }): Promise<User> => {
      const { password } = parseInput(z.object({ password: newPassword }), input)
      const user = await getUserByEmail(email)
      const passwordHash = await passwords.hashPassword(password)
      await changes.commit(async (tx, announce) => {
        await setPassword(tx, user, passwordHash)
        announce({ type: 'access_changed', userId: user.id })
      })
      return user
    },
  }
}
