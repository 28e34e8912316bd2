import { DAY_MS } from '../lib/kernel/durations.ts'
import type { Flood, Floods } from '../limits/floods.ts'
import { describeAmount, fromStoredAmount } from '../limits/limit.ts'
import type { LimitPeriod } from '../limits/period.ts'
import { type AccessPolicy, type Caller, tokenIdOf } from '../servers/access/access.ts'
import { ERROR } from './protocol.ts'
import { type Refusal, refusal } from './rpc-response.ts'

/** Length of a period in seconds. A month has 30 days, since clients only need to know about how long it is. */
const SECONDS: Readonly<Record<LimitPeriod, number>> = {
  minute: 60,
  day: DAY_MS / 1_000,
  month: (30 * DAY_MS) / 1_000,
}

/** Returns the refusal with the headers of RFC 9110 §10.2.3 and of draft-ietf-httpapi-ratelimit-headers-10. */
const toRefusal = ({ limit, retryAfterSeconds }: Flood): Refusal => {
  const name = `"${limit.unit}"`
  const quota = Math.ceil(fromStoredAmount(limit.unit, limit.amount))
  return {
    ...refusal(429, ERROR.transport, `Too many calls over a limit: ${describeAmount(limit)}`),
    headers: [
      'retry-after',
      String(retryAfterSeconds),
      'ratelimit-policy',
      `${name};q=${quota};w=${SECONDS[limit.period]}`,
      'ratelimit',
      `${name};r=0;t=${retryAfterSeconds}`,
    ],
  }
}

/** Returns why a caller's requests are refused before they are read, or undefined. */
export const createFloodCheck =
  ({ find }: Pick<Floods, 'find'>) =>
  ({ organizationId, serverId }: AccessPolicy, caller: Caller): Refusal | undefined => {
    const flood = find({ organizationId, serverId, userId: caller?.userId, tokenId: tokenIdOf(caller) })
    return flood && toRefusal(flood)
  }
