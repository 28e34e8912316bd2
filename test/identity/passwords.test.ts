import { describe, expect, it } from 'vitest'
import { createPasswords } from '../../src/identity/passwords.ts'
import { AppError } from '../../src/lib/kernel/errors.ts'

describe('password hashing', () => {
  it('rejects requests when too many are waiting, says when to retry, and serves the rest', async () => {
    const { hashPassword } = createPasswords({ maxAtOnce: 1, maxWaiting: 1 })
    const results = await Promise.allSettled(['one', 'two', 'three'].map(hashPassword))
    expect(results.map(({ status }) => status)).toEqual(['fulfilled', 'fulfilled', 'rejected'])
    const refusal = results.flatMap(result => (result.status === 'rejected' ? [result.reason] : []))[0]
    expect(refusal).toBeInstanceOf(AppError)
    expect(refusal).toMatchObject({ code: 'unavailable', retryAfterSeconds: expect.any(Number) })
    await expect(hashPassword('four')).resolves.toMatch(/^\$argon2id\$/)
  })

  it('uses a different salt for each hash', async () => {
    const { hashPassword } = createPasswords()
    expect(await hashPassword('same')).not.toBe(await hashPassword('same'))
  })

  it('accepts no password without an account, but does the same work', async () => {
    const { checkPassword } = createPasswords()
    expect(await checkPassword('', undefined)).toEqual({ isRight: false, needsRehash: false })
  })
})
