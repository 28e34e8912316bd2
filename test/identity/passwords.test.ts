import { describe, expect, it } from 'vitest'
import { createPasswords } from '../../src/accounts/passwords.ts'
import { AppError } from '../../src/kernel/index.ts'

describe('hashing passwords', () => {
  it('sends away who comes when so many wait, says when to come back, and serves the rest', async () => {
    const { hashPassword } = createPasswords({ maxAtOnce: 1, maxWaiting: 1 })
    const results = await Promise.allSettled(['one', 'two', 'three'].map(hashPassword))
    expect(results.map(({ status }) => status)).toEqual(['fulfilled', 'fulfilled', 'rejected'])
    const refusal = results.flatMap(result => (result.status === 'rejected' ? [result.reason] : []))[0]
    expect(refusal).toBeInstanceOf(AppError)
    expect(refusal).toMatchObject({ code: 'unavailable', retryAfterSeconds: expect.any(Number) })
    await expect(hashPassword('four')).resolves.toMatch(/^\$argon2id\$/)
  })

  it('gives each a salt of its own', async () => {
    const { hashPassword } = createPasswords()
    expect(await hashPassword('same')).not.toBe(await hashPassword('same'))
  })

  it('finds no password right where there is no account, and does the work all the same', async () => {
    const { checkPassword } = createPasswords()
    expect(await checkPassword('', undefined)).toEqual({ isRight: false, needsRehash: false })
  })
})
