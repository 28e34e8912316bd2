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

  const EMAIL = 'ada@example.com'
  const HERE = { email: EMAIL, address: '198.51.100.1' }

  /** Creates a throttle that holds one call of the counters back, and counts failures until the account is blocked. */
  const blockAccount = async (method: 'increment' | 'reset') => {
    const counters = createMemoryCounters()
    const reached = Promise.withResolvers<void>()
    const released = Promise.withResolvers<void>()
    let isHolding = false
    const hold = async (): Promise<void> => {
      if (!isHolding) return
      isHolding = false
      reached.resolve()
      await released.promise
    }
    const throttle = createThrottle({
      ...counters,
      increment: async (key, windowMs) => {
        const counted = await counters.increment(key, windowMs)
        if (method === 'increment' && key.startsWith('sign-in-account:')) await hold()
        return counted
      },
      reset: async key => {
        if (method === 'reset') await hold()
        await counters.reset(key)
      },
    })
    for (let at = 0; at < 100; at++) await throttle.countSignIn({ email: EMAIL, address: `203.0.${at}.1` })
    isHolding = true
    return { throttle, reached: reached.promise, release: released.resolve }
  }

  it('does not return after the account is forgiven because an attempt was refused meanwhile', async () => {
    const { throttle, reached, release } = await blockAccount('reset')
    const forgiving = throttle.forgiveAccount(HERE)
    await reached
    await expect(throttle.countSignIn(HERE)).rejects.toMatchObject({ code: 'rate_limited' })
    release()
    await forgiving
    await expect(throttle.countSignIn(HERE)).resolves.toBeUndefined()
  })

  it('is not cached if the account is forgiven while it is read', async () => {
    const { throttle, reached, release } = await blockAccount('increment')
    const refused = throttle.countSignIn(HERE)
    await reached
    await throttle.forgiveAccount(HERE)
    release()
    await expect(refused).rejects.toMatchObject({ code: 'rate_limited' })
    await expect(throttle.countSignIn(HERE)).resolves.toBeUndefined()
  })
})
