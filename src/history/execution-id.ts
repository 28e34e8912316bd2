import { randomUUID } from 'node:crypto'

/** Maximum start value of the counter in each millisecond, so that at least 2,049 ids fit. */
const MAX_COUNTER_START = 0x7ff
const MAX_COUNTER = 0xfff

const toHex = (value: number, digits: number): string => value.toString(16).padStart(digits, '0')

/**
 * Creates version 7 UUIDs (RFC 9562 §5.7) in ascending order, with the counter of §6.2, method 1, in `rand_a`. If the
 * clock is set back, the ids continue from the latest time seen.
 */
export const createExecutionIds = (now: () => number): (() => string) => {
  let latestTime = -1
  let start = ''
  let counter = 0
  const startAt = (time: number, first: number): void => {
    const hex = toHex(time, 12)
    start = `${hex.slice(0, 8)}-${hex.slice(8)}-7`
    latestTime = time
    counter = first
  }
  return () => {
    const random = randomUUID()
    const time = now()
    if (time > latestTime) startAt(time, Number.parseInt(random.slice(0, 3), 16) & MAX_COUNTER_START)
    else if (++counter > MAX_COUNTER) startAt(latestTime + 1, 0)
    // The variant and the random bits after it have the same format in versions 4 and 7.
    return start + toHex(counter, 3) + random.slice(18)
  }
}

/** Returns a version 7 UUID for a record. The ids ascend within a process. */
export const newExecutionId: () => string = createExecutionIds(Date.now)
