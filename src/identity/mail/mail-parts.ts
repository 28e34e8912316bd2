import type { Database, Transaction } from '../platform/db/index.ts'
import type { Changes } from '../platform/events/index.ts'
import type { Mailer } from '../platform/mail/index.ts'
import type { MailedLinks } from './mailed-links.service.ts'
import type { OwnPassword } from './own-password.ts'
import type { Passwords } from './passwords.ts'
import type { Postbox } from './postbox.ts'
import type { Throttle } from './throttle.ts'

/** Ends what applications may do in a user's name; answers how many could. Supplied by who keeps it. */
export type EndGrantsOf = (tx: Transaction, userId: string) => Promise<number>

/** What the flows that go by mail are made of. */
export type MailFlowParts = {
  db: Database
  changes: Changes
  mailer: Mailer
  postbox: Postbox
  links: MailedLinks
  throttle: Throttle
  passwords: Passwords
  ownPassword: OwnPassword
  endGrantsOf: EndGrantsOf
  baseUrl: string
  /** Milliseconds since 1970. */
  now: () => number
}
