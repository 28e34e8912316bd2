import type { Database, Transaction } from '../lib/db/client.ts'
import type { Changes } from '../lib/events/changes.ts'
import type { Mailer } from '../lib/mail/mailer.ts'
import type { MailQueue } from './mail/mail-queue.ts'
import type { OwnPassword } from './own-password.ts'
import type { Passwords } from './passwords.ts'
import type { Throttle } from './sign-in/throttle.ts'

/** Dependencies of the operations on accounts. */
export type AccountParts = {
  db: Database
  changes: Changes
  throttle: Throttle
  passwords: Passwords
  ownPassword: OwnPassword
  /** Origin of the links in emails. */
  baseUrl: string
}

/** Removes a user's application grants and returns how many there were. Supplied by the OAuth module. */
export type EndGrantsOf = (tx: Transaction, userId: string) => Promise<number>

/** Dependencies of the operations that send emails. */
export type MailFlowParts = AccountParts & { mailer: Mailer; mailQueue: MailQueue; endGrantsOf: EndGrantsOf }
