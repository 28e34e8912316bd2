import type { HttpClient } from '../../lib/outbound/outbound-request.ts'
import { createFairQueue, type FindCreator } from '../../lib/worker/fair-queue.ts'

/** Documents that are fetched at once, each of them in memory, and those of one organization. Others wait. */
const MAX_FETCHES = 4
const MAX_FETCHES_OF_ORGANIZATION = 2
/** Users whose servers take longer share half of the requests. */
const SLOW_AFTER_MS = 10_000
/** More than there can be readers and checks. */
const MAX_WAITING = 10_000

/** Returns a client that has few requests under way. Organizations take turns. */
export const fetchFewAtOnce = ({ send }: Pick<HttpClient, 'send'>, findCreator: FindCreator) => {
  const queue = createFairQueue({
    maxRunning: MAX_FETCHES,
    ...{ maxRunningOfOwner: MAX_FETCHES_OF_ORGANIZATION, maxRunningOfGroup: MAX_FETCHES_OF_ORGANIZATION },
    slowAfterMs: SLOW_AFTER_MS,
    ...{ maxWaiting: MAX_WAITING, maxWaitingOfOwner: MAX_WAITING, maxWaitingOfGroup: MAX_WAITING },
  })
  const sendInTurn: HttpClient['send'] = async request => {
    const { organizationId: group = '', signal } = request
    const creator = await findCreator(group)
    return queue.run({ owner: group, group, creator }, () => send(request), signal)
  }
  return { send: sendInTurn }
}
