import { hash } from 'node:crypto'
import type { Counters } from '../../lib/db/counters.ts'
import { HOUR_MS } from '../../lib/kernel/durations.ts'
import { AppError } from '../../lib/kernel/errors.ts'

/** Maximum invitations per organization. Enough for a department in an afternoon, too few for a mailing list. */
const MAX_PER_ORGANIZATION = 100
/** Maximum invitations per sender, because one user may create a hundred organizations. */
const MAX_PER_SENDER = 100
/** Maximum invitations to one email address from all senders. Allows resending, but prevents mail bombs. */
const MAX_PER_ADDRESS = 5

const tooMany = (what: string, resetsInMs: number): AppError => {
  const retryAfterSeconds = Math.max(1, Math.ceil(resetsInMs / 1_000))
  const minutes = Math.ceil(retryAfterSeconds / 60)
  return new AppError('rate_limited', `Too many invitations ${what}. Try again in ${minutes} min.`, {
    retryAfterSeconds,
  })
}

/**
 * Limits invitations per hour, because the recipients have not asked for them. Throws `rate_limited` if a limit is
 * exceeded.
 */
export const countInvitation = async (
  counters: Counters,
  { senderId, organizationId, email }: { senderId: string; organizationId: string; email: string },
): Promise<void> => {
  const count = async (name: string, key: string, most: number, what: string): Promise<void> => {
    const { count: counted, resetsInMs } = await counters.increment(`${name}:${hash('sha256', key)}`, HOUR_MS)
    if (counted > most) throw tooMany(what, resetsInMs)
  }
  await count('invitation-sender', senderId, MAX_PER_SENDER, 'from you')
  await count('invitation', organizationId, MAX_PER_ORGANIZATION, 'from this organization')
  await count('invitation-address', email, MAX_PER_ADDRESS, 'to this address')
}
