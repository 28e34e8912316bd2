import type { Transaction } from '../lib/db/client.ts'
import type { Changes } from '../lib/events/changes.ts'
import type { Mailer } from '../lib/mail/mailer.ts'
import type { MailQueue } from './mail/mail-queue.ts'
import type { OwnPassword, OwnPasswordParts } from './own-password.ts'

/** Dependencies of the operations on accounts. */
export type AccountParts = OwnPasswordParts & {
  changes: Changes
  ownPassword: OwnPassword
  /** Origin of the links in emails. */
  baseUrl: string
}

/** Dependencies of the operations that send emails. */
export type MailFlowParts = AccountParts & {
  mailer: Mailer
  mailQueue: MailQueue
  /** Removes a user's application grants and returns how many there were. Supplied by the OAuth module. */
  endGrantsOf: (tx: Transaction, userId: string) => Promise<number>
}
