import { randomBytes } from 'node:crypto'

/** Maximum start value of the counter in each millisecond, so that at least 2,049 ids fit. */
const MAX_COUNTER_START = 0x7ff
const MAX_COUNTER = 0xfff
/** Random hex digits per id: three for the start of the counter, one for the variant, and the tail. */
const RANDOM_DIGITS = 19
/** Fetched for many ids at once, because one call of `randomBytes` takes longer than the rest of an id. */
const FETCHED_BYTES = RANDOM_DIGITS * 128
const VARIANTS = '89ab'

const toHex = (value: number, digits: number): string => value.toString(16).padStart(digits, '0')

/** Creates a function that returns `RANDOM_DIGITS` random hex digits. */
const createRandomDigits = (): (() => string) => {
  let fetched = ''
  let at = 0
  return () => {
    if (at === fetched.length) {
      fetched = randomBytes(FETCHED_BYTES).toString('hex')
      at = 0
    }
    at += RANDOM_DIGITS
    return fetched.slice(at - RANDOM_DIGITS, at)
  }
}

/**
 * Creates version 7 UUIDs (RFC 9562 §5.7) in ascending order, with the counter of §6.2, method 1, in `rand_a`. If the
 * clock is set back, the ids continue from the latest time seen.
 */
export const createExecutionIds = (now: () => number): (() => string) => {
  const nextDigits = createRandomDigits()
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
    const random = nextDigits()
    const time = now()
    if (time > latestTime) startAt(time, Number.parseInt(random.slice(0, 3), 16) & MAX_COUNTER_START)
    else if (++counter > MAX_COUNTER) startAt(latestTime + 1, 0)
    const variant = VARIANTS.charAt(Number.parseInt(random.charAt(3), 16) & 3)
    return `${start}${toHex(counter, 3)}-${variant}${random.slice(4, 7)}-${random.slice(7)}`
  }
}

/** Returns a version 7 UUID for a record. The ids ascend within a process. */
export const newExecutionId: () => string = createExecutionIds(Date.now)
