import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import type { JsonValue } from '../../../../src/lib/kernel/json.ts'
import { createMasker } from '../../../../src/results/mask/masking.ts'
import { maskByRules } from '../../../../src/results/mask/rules/mask-by-rules.ts'
import { withRules } from '../../../../src/results/mask/rules/masked-by-rules.ts'
import { createRuleSearch } from '../../../../src/results/mask/rules/rule-search.ts'
import { BUILT_IN_KINDS, type MaskingRule } from '../../../../src/servers/masking/masking-rule.ts'
import { runsOf } from '../../../support/cases-of-run.ts'

const BUILT_IN: readonly MaskingRule[] = BUILT_IN_KINDS.map(kind => ({ kind }))
const pattern = (text: string): MaskingRule => ({ kind: 'pattern', pattern: text })
const maskWith = (rules: readonly MaskingRule[], text: string): string =>
  maskByRules(text, createRuleSearch(rules).find)
const mask = (text: string): string => maskWith(BUILT_IN, text)

const withCheckDigit = (digits: string): string => {
  const sum = [...digits].reverse().reduce((total, digit, index) => {
    const value = Number(digit) * (index % 2 === 0 ? 2 : 1)
    return total + (value > 9 ? value - 9 : value)
  }, 0)
  return `${digits}${(10 - (sum % 10)) % 10}`
}

const digits = (length: number) => fc.stringMatching(new RegExp(`^\\d{${length}}$`))
/** First digits and length of card numbers. */
const NETWORKS: readonly (readonly [string, number])[] = [
  ['4', 16],
  ['4', 13],
  ['4', 19],
  ['51', 16],
  ['2720', 16],
  ['34', 15],
  ['37', 15],
  ['36', 14],
  ['3530', 16],
  ['6011', 16],
  ['62', 19],
  ['65', 16],
  ['50', 13],
]
const anyCard = fc
  .constantFrom(...NETWORKS)
  .chain(([first, length]) => digits(length - first.length - 1).map(rest => withCheckDigit(first + rest)))
const anyWrittenCard = fc.oneof(
  anyCard,
  fc
    .tuple(anyCard, fc.constantFrom(' ', '-'))
    .filter(([card]) => card.length === 16)
    .map(([card, separator]) => (card.match(/.{4}/g) ?? []).join(separator)),
)
/** Text in which nothing matches: it has too few digits, and no `@`. */
const harmless = fc.string({ unit: 'grapheme', maxLength: 80 }).filter(text => !/[@\d]|&#|%40|%2B/i.test(text))
const spaced = fc.tuple(harmless, harmless).map(([before, after]) => [`${before} `, ` ${after}`] as const)
const anyJson: fc.Arbitrary<JsonValue> = fc.letrec<{ value: JsonValue }>(tie => ({
  value: fc.oneof(
    { depthSize: 'small' },
    fc.constantFrom(null, true, false),
    fc.integer(),
    anyCard.map(Number),
    fc.constantFrom('ada@example.com', 'a\n"+49 30 123456"\\', '4111 1111 1111 1111', '{"a":"x\\n4111111111111111"}'),
    fc.string({ unit: 'grapheme', maxLength: 20 }),
    fc.array(tie('value'), { maxLength: 5 }),
    fc.dictionary(
      fc.string({ maxLength: 8 }).filter(name => name !== '__proto__'),
      tie('value'),
      { maxKeys: 5 },
    ),
  ),
})).value

const shapeOf = (value: JsonValue): unknown => {
  if (Array.isArray(value)) return value.map(shapeOf)
  return typeof value === 'object' && value !== null ? Object.values(value).map(shapeOf) : 'leaf'
}

describe('masking by rules', () => {
  it('leaves a text unchanged in which nothing matches', () => {
    fc.assert(
      fc.property(harmless, text => {
        expect(mask(text)).toBe(text)
      }),
      { numRuns: runsOf(500) },
    )
  })

  it('masks every card number with a right check digit, wherever it is', () => {
    fc.assert(
      fc.property(spaced, anyWrittenCard, ([before, after], card) => {
        // Alone, because after a `+` some of them are also an international phone number.
        expect(maskWith([{ kind: 'card' }], before + card + after)).toBe(`${before}•••${after}`)
      }),
      { numRuns: runsOf(500) },
    )
  })

  it('masks no card number whose check digit is wrong', () => {
    fc.assert(
      fc.property(anyCard, fc.integer({ min: 1, max: 9 }), (card, added) => {
        const wrong = card.slice(0, -1) + ((Number(card.at(-1)) + added) % 10)
        expect(mask(`id ${wrong}`)).toBe(`id ${wrong}`)
      }),
      { numRuns: runsOf(500) },
    )
  })

  it('keeps JSON valid, with the same structure, however it is written', () => {
    fc.assert(
      fc.property(fc.array(anyJson), fc.constantFrom(undefined, 2), (value, indent) => {
        const masked = mask(JSON.stringify(value, null, indent))
        const parsed: JsonValue = JSON.parse(masked)
        expect(masked).not.toMatch(/ada@example\.com|4111 ?1111|30 123456/)
        expect(shapeOf(parsed)).toStrictEqual(shapeOf(value))
      }),
      { numRuns: runsOf(500) },
    )
  })

  it('changes nothing in a text that is masked already', () => {
    fc.assert(
      fc.property(anyJson, value => {
        const once = mask(JSON.stringify([value]))
        expect(mask(once)).toBe(once)
      }),
      { numRuns: runsOf(200) },
    )
  })

  it('keeps the white space and the digits of JSON around a match', () => {
    expect(mask('{ "id" : 12345678901234567890,\n  "to": "ada@example.com", "x": 1.50 }')).toBe(
      '{ "id" : 12345678901234567890,\n  "to": "•••", "x": 1.50 }',
    )
  })

  it.each([
    ['a number', '{"card":4111111111111111}', '{"card":"•••"}'],
    ['a string with escapes', String.raw`{"a":"\u0061da@example.com\n\"x\""}`, String.raw`{"a":"•••\n\"x\""}`],
    ['JSON in a string', String.raw`{"text":"{\"card\":4111111111111111}"}`, String.raw`{"text":"{\"card\":\"•••\"}"}`],
    ['a member name', '{"ada@example.com":1}', '{"•••":1}'],
    ['JSON Lines', '{"a":"ada@example.com"}\n{"a":4111111111111111}\n', '{"a":"•••"}\n{"a":"•••"}\n'],
    ['JSON that is cut off', '{"a":"ada@example.com","b":"bob@exam', '{"a":"•••","b":"bob@exam'],
    ['a text that only begins like JSON', '[info] card 4111111111111111 "ok"', '[info] card ••• "ok"'],
    ['a list in prose', '[030 123456, "x" y]', '[•••, "x" y]'],
  ])('masks what is in %s', (_where, text, masked) => expect(mask(text)).toBe(masked))

  it('does not look into binary data of images and resources', () => {
    const data = `4111111111111111/${'A'.repeat(300)}`
    const text = JSON.stringify({ content: [{ type: 'image', data, mimeType: 'image/png' }] })
    expect(mask(text)).toBe(text)
  })

  it('masks by patterns, each of them in the whole text', () => {
    const rules = [pattern('EMP-\\d{6}'), pattern('(?i)secret: \\w+'), pattern('\\d{6} left')]
    expect(maskWith(rules, 'EMP-123456 left, SECRET: abc')).toBe('•••, •••')
    expect(maskWith(rules, 'EMP-12345')).toBe('EMP-12345')
  })

  it('matches ^ and $ in each string of JSON', () => {
    expect(maskWith([pattern('^\\d{4}$')], '{"a":"1234","b":"12345","c":9876}')).toBe(
      '{"a":"•••","b":"12345","c":"•••"}',
    )
  })
})

describe('a masker with rules', () => {
  const masker = withRules(createMasker(['hunter2-canary']), BUILT_IN)

  it('hides secrets and matches', async () => {
    const text = 'hunter2-canary of ada@example.com'
    expect(masker.text(text)).toBe('••• of •••')
    expect(await masker.long.text(text)).toBe('••• of •••')
    expect((await masker.long.utf8(Buffer.from(text))).toString()).toBe('••• of •••')
    expect(masker.object({ text, card: 4111111111111111 })).toStrictEqual({ text: '••• of •••', card: '•••' })
    expect(await masker.long.json([text, 4111111111111111, 1])).toStrictEqual(['••• of •••', '•••', 1])
    expect(masker.also(() => ['other-canary']).text(`${text}, other-canary`)).toBe('••• of •••, •••')
  })

  it('returns the same value if nothing is hidden', async () => {
    const json = { a: ['b', 1] }
    const utf8 = Buffer.from('nothing')
    expect(masker.object(json)).toBe(json)
    expect(await masker.long.object(json)).toBe(json)
    expect(await masker.long.utf8(utf8)).toBe(utf8)
  })

  it('hides only secrets in bytes that are not text', async () => {
    const masked = await masker.long.bytes(Buffer.from('hunter2-canary 4111111111111111'))
    expect(masked.toString()).toBe('************** 4111111111111111')
  })

  it('takes place in the worker pool for a short text too, if its patterns may take long', async () => {
    const pool = { maskByRules: async () => Buffer.from('done in the pool') }
    const text = 'word '.repeat(1_000)
    expect(await withRules(createMasker([]), BUILT_IN, pool).long.text(text)).toBe(text)
    const slow = withRules(createMasker([]), [pattern('(?:a|b|c|d){1,60}x')], pool)
    expect(await slow.long.text(text)).toBe('done in the pool')
    expect((await slow.long.utf8(Buffer.from(text), undefined)).toString()).toBe('done in the pool')
  })

  it('hides the rest of a message that is too long to be searched at once', () => {
    const slow = withRules(createMasker([]), [pattern('(?:a|b|c|d){1,60}x')])
    const masked = slow.object({ first: 'abx', rest: 'y'.repeat(5_000_000) })
    expect(masked.first).toBe('•••')
    expect(String(masked.rest)).toMatch(/^y+•••$/)
  })

  it('shows the beginning of a long text without a match that is cut off', () => {
    const beginning = masker.beginning(`ada@example.com ${'word '.repeat(100_000)}`)
    expect(beginning).toMatch(/^••• word /)
    expect(beginning).toMatch(/word ?…$|wo?r?…$/)
    expect(masker.beginning('ada@example.com')).toBe('•••')
  })

  it('is the same masker without rules', () => {
    const plain = createMasker(['a secret'])
    expect(withRules(plain, [])).toBe(plain)
  })
})
