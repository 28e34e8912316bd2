import { hash } from 'node:crypto'
import { AppError } from '../kernel/index.ts'
import type { Counters } from '../platform/counters/index.ts'

const HOUR_MS = 60 * 60 * 1_000
/** Letters of one organization: a whole department is invited in an afternoon, a mailing list is not. */
const MAX_PER_ORGANIZATION = 100
/** Letters of one person, who may make a hundred organizations. */
const MAX_PER_SENDER = 100
/** Letters to one address, whoever sends them: once more when the first is not found, and no mail bomb. */
const MAX_PER_ADDRESS = 5

const tooMany = (what: string, resetsInMs: number): AppError => {
  const retryAfterSeconds = Math.max(1, Math.ceil(resetsInMs / 1_000))
  const minutes = Math.ceil(retryAfterSeconds / 60)
  return new AppError('rate_limited', `Too many invitations ${what}: try again in ${minutes} min.`, {
    retryAfterSeconds,
  })
}

/** Letters go to people who have not asked for them: so many in an hour and no more. Throws `rate_limited`. */
export const createInvitationThrottle = (counters: Counters) => {
  const count = async (name: string, key: string, most: number, what: string): Promise<void> => {
    const { count: counted, resetsInMs } = await counters.increment(`${name}:${hash('sha256', key)}`, HOUR_MS)
    if (counted > most) throw tooMany(what, resetsInMs)
  }
  return {
    countInvitation: async (senderId: string, organizationId: string, email: string): Promise<void> => {
      await count('invitation-sender', senderId, MAX_PER_SENDER, 'of yours')
      await count('invitation', organizationId, MAX_PER_ORGANIZATION, 'of this organization')
      await count('invitation-address', email, MAX_PER_ADDRESS, 'to this address')
    },
  }
}
