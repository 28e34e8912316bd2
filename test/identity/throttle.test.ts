import { describe, expect, it } from 'vitest'
import { createThrottle } from '../../src/identity/sign-in/throttle.ts'
import { createMemoryCounters } from '../../src/lib/db/counters.ts'

describe('a block by the throttle', () => {
  it('ends with the window of its counter', async () => {
    let time = 1_000_000
    const now = () => time
    const throttle = createThrottle(createMemoryCounters(now), now)
    const attempt = { email: 'ada@example.com', address: '198.51.100.1' }
    for (let count = 0; count < 10; count++) await throttle.countSignIn(attempt)
    const refused = { code: 'rate_limited', retryAfterSeconds: 15 * 60 }
    await expect(throttle.countSignIn(attempt)).rejects.toMatchObject(refused)
    time += 5 * 60_000
    await expect(throttle.countSignIn(attempt)).rejects.toMatchObject({ ...refused, retryAfterSeconds: 10 * 60 })
    time += 10 * 60_000
    await expect(throttle.countSignIn(attempt)).resolves.toBeUndefined()
  })
})
