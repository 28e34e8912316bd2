import { randomFillSync } from 'node:crypto'

/** Random bytes fetched at once, enough for about 400 ids. */
const POOL_BYTES = 4_096
/** Two for the counter's start, eight for the tail. */
const RANDOM_BYTES_PER_ID = 10
/** The counter of a millisecond starts at or below this, so that at least 2,049 ids fit. */
const MAX_COUNTER_START = 0x7ff
const MAX_COUNTER = 0xfff

const TEMPLATE = '00000000-0000-7000-8000-000000000000'
const HEX_DIGITS = Buffer.from('0123456789abcdef', 'latin1')

/**
 * Creates UUIDs of version 7 (RFC 9562 §5.7) in ascending order, with the counter of §6.2, method 1, in `rand_a`. If
 * the clock is set back, it continues at the latest time seen.
 */
export const createExecutionIds = (now: () => number): (() => string) => {
  // Writes digits to one buffer, which is faster than joining strings.
  const text = Buffer.from(TEMPLATE, 'latin1')
  const pool = Buffer.allocUnsafe(POOL_BYTES)
  let poolOffset = POOL_BYTES
  let latestTime = -1
  let counter = 0

  const digit = (value: number): number => HEX_DIGITS[value & 0xf] ?? 0
  const randomByte = (): number => pool[poolOffset++] ?? 0
  const writeByte = (at: number, byte: number): void => {
    text[at] = digit(byte >> 4)
    text[at + 1] = digit(byte)
  }

  const writeTime = (time: number): void => {
    latestTime = time
    let rest = time
    for (let at = 12; at >= 0; at--) {
      if (at === 8) continue
      text[at] = digit(rest % 16)
      rest = Math.floor(rest / 16)
    }
  }

  const advance = (time: number): void => {
    if (time > latestTime) {
      writeTime(time)
      counter = ((randomByte() << 8) | randomByte()) & MAX_COUNTER_START
    } else if (++counter > MAX_COUNTER) {
      writeTime(latestTime + 1)
      counter = 0
    }
  }

  return () => {
    if (poolOffset + RANDOM_BYTES_PER_ID > POOL_BYTES) {
      randomFillSync(pool)
      poolOffset = 0
    }
    advance(now())
    text[15] = digit(counter >> 8)
    writeByte(16, counter)
    const variantByte = randomByte()
    text[19] = digit(0x8 | (variantByte & 0x3))
    text[20] = digit(variantByte >> 4)
    writeByte(21, randomByte())
    for (let at = 24; at < TEMPLATE.length; at += 2) writeByte(at, randomByte())
    return text.toString('latin1')
  }
}

/** Returns a UUID of version 7 for a record; within a process they ascend. */
export const newExecutionId: () => string = createExecutionIds(Date.now)
