import { type Suspensions, suspendedText } from '../lib/kernel/suspensions.ts'
import type { FindBan } from '../lib/outbound/dispatch.ts'

/** Returns the check of outgoing requests: the operator has blocked the origin, or suspended the organization. */
export const createFindBan =
  ({ ofOrigin, ofOrganization }: Pick<Suspensions, 'ofOrigin' | 'ofOrganization'>): FindBan =>
  ({ origin, organizationId }) => {
    const ofTarget = ofOrigin(origin)
    if (ofTarget !== undefined) return `the operator has blocked requests to ${origin}. Reason: ${ofTarget}`
    const ofSender = organizationId === undefined ? undefined : ofOrganization(organizationId)
    return ofSender === undefined ? undefined : suspendedText('organization', ofSender)
  }
