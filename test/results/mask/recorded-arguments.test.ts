import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { createMasker } from '../../../src/results/mask/masking.ts'
import { toRecordedArguments } from '../../../src/results/mask/recorded-arguments.ts'
import { isSecretArgument } from '../../../src/tools/secret-parameters.ts'
import { runsOf } from '../../support/cases-of-run.ts'

const NONE = createMasker([])
const never = () => false

describe('the arguments in the history', () => {
  it('are recorded as they were given', () => {
    const values = { id: 'KF-1', limit: 3, deep: { list: [null, true, 'é'] } }
    expect(toRecordedArguments({ values, isSecret: never }, NONE)).toEqual({ values, cut: [], masked: [] })
  })

  it('are left out one by one if they are too long, and are never cut within a value', () => {
    const values = { first: 'a', long: 'x'.repeat(20_000), deep: { list: Array(9_000).fill('ab') }, last: 'z' }
    expect(toRecordedArguments({ values, isSecret: never }, NONE)).toEqual({
      values: { first: 'a', last: 'z' },
      cut: ['long', 'deep'],
      masked: [],
    })
    const many = Object.fromEntries(Array.from({ length: 40 }, (_, index) => [`a${index}`, 'x'.repeat(1_000)]))
    const { values: kept, cut } = toRecordedArguments({ values: many, isSecret: never }, NONE)
    expect(JSON.stringify(kept).length).toBeLessThan(17_000)
    expect(cut.length).toBe(20)
  })

  it('leave out secrets by their parameter, and whatever contains a secret, also as a number or a name', () => {
    const masker = createMasker(['sk-hidden', '4711471147'])
    const values = { password: 'x', q: 'say sk-hidden', pin: 4_711_471_147, deep: [{ 'sk-hidden': 1 }], free: 'ok' }
    expect(toRecordedArguments({ values, isSecret: name => name === 'password' }, masker)).toEqual({
      values: { free: 'ok' },
      cut: [],
      masked: ['password', 'q', 'pin', 'deep'],
    })
    const named = toRecordedArguments({ values: { 'a sk-hidden b': 1 }, isSecret: never }, masker)
    expect(named).toEqual({ values: {}, cut: [], masked: ['a ••• b'] })
  })

  it('leave out whatever has a member that is a secret by its name or its value', () => {
    const values = {
      login: { name: 'ada', password: 'x' },
      list: [{ nested: [{ apiKey: 'x' }] }],
      auth: 'Bearer ghp_0123456789abcdefghijklmnopqrstuvwxyz',
      cursor: { next_page_token: 'x' },
    }
    expect(toRecordedArguments({ values, isSecret: isSecretArgument }, NONE)).toEqual({
      values: { cursor: { next_page_token: 'x' } },
      cut: [],
      masked: ['login', 'list', 'auth'],
    })
  })

  it('never contain a secret, wherever it is in them', () => {
    const anySecret = fc.string({ unit: 'grapheme', minLength: 8, maxLength: 30 }).filter(text => !text.includes('•'))
    fc.assert(
      fc.property(anySecret, fc.string(), fc.string(), fc.jsonValue(), (secret, before, after, other) => {
        const values = { text: `${before}${secret}${after}`, deep: [{ [secret]: 1 }], free: 'free' }
        const recorded = toRecordedArguments({ values, isSecret: never }, createMasker([secret]))
        expect(JSON.stringify(recorded)).not.toContain(JSON.stringify(secret).slice(1, -1))
        const free = toRecordedArguments(
          { values: { other: JSON.parse(JSON.stringify(other)) }, isSecret: never },
          NONE,
        )
        expect(free.cut.length + Object.keys(free.values).length).toBe(1)
      }),
      { numRuns: runsOf(200) },
    )
  })
})
