import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import type { JsonValue } from '../../src/lib/kernel/json.ts'
import { castValue } from '../../src/templates/check-value.ts'
import { PARAMETER_TYPES, type ParameterType } from '../../src/templates/template.ts'
import { nastyJson } from './nasty.ts'

const ACCEPTED: readonly (readonly [ParameterType, JsonValue, JsonValue])[] = [
  ['string', 'x', 'x'],
  ['string', '', ''],
  ['string', 1, '1'],
  ['string', 1.5, '1.5'],
  ['string', 2 ** 53 - 1, '9007199254740991'],
  ['string', true, 'true'],
  ['integer', 42, 42],
  ['integer', 42.0, 42],
  ['integer', '42', 42],
  ['integer', '-42', -42],
  ['integer', ' 42 ', 42],
  ['integer', '9007199254740991', 9007199254740991],
  ['number', 1.5, 1.5],
  ['number', '1.5', 1.5],
  ['number', '-1e3', -1000],
  ['boolean', true, true],
  ['boolean', 'true', true],
  ['boolean', 'false', false],
  ['json', { a: [1] }, { a: [1] }],
  ['json', '{"a": 1}', '{"a": 1}'],
  ['json', null, null],
  ['url', 'https://a.example/b?c#d', 'https://a.example/b?c#d'],
  ['url', 'HTTP://localhost:8080', 'HTTP://localhost:8080'],
]

const REFUSED: readonly (readonly [ParameterType, JsonValue, got: string])[] = [
  ['string', null, 'null'],
  ['string', ['x'], 'an array'],
  ['string', { x: 1 }, 'an object'],
  ['string', 2 ** 53, 'an integer beyond ±9007199254740991, which would lose digits (send it as a string)'],
  // The value that JSON.parse returns for 1e400.
  ['string', Number.POSITIVE_INFINITY, 'a number that is too large'],
  ['integer', Number.POSITIVE_INFINITY, 'a number that is too large'],
  ['number', Number.NEGATIVE_INFINITY, 'a number that is too large'],
  ['json', Number.POSITIVE_INFINITY, 'a number that is too large'],
  ['integer', 1.5, 'a number with a fraction'],
  ['integer', 2 ** 53, 'an integer beyond ±9007199254740991'],
  ['integer', '9007199254740992', 'a string that is not one'],
  ['integer', '1.0', 'a string that is not one'],
  ['integer', '007', 'a string that is not one'],
  ['integer', '+1', 'a string that is not one'],
  ['integer', '0x10', 'a string that is not one'],
  ['integer', '', 'a string that is not one'],
  ['integer', true, 'a boolean'],
  ['number', 'NaN', 'a string that is not one'],
  ['number', 'Infinity', 'a string that is not one'],
  ['number', '1e999', 'a string that is not one'],
  ['number', '12345678901234567890', 'a string that is not one'],
  ['number', '1,5', 'a string that is not one'],
  ['number', [1], 'an array'],
  ['boolean', 'True', 'a string that is not one'],
  ['boolean', 1, 'a number'],
  ['boolean', '', 'a string that is not one'],
  ['url', 'a.example', 'a string that is not one'],
  ['url', '/x', 'a string that is not one'],
  ['url', 'https:a.example', 'a string that is not one'],
  ['url', 'ftp://a.example', 'a string that is not one'],
  ['url', 'javascript:alert(1)', 'a string that is not one'],
  ['url', 'https://user:pw@a.example', 'a string that is not one'],
  ['url', 'https://a.exa\nmple', 'a string that is not one'],
  ['url', 'https://a.example\\x', 'a string that is not one'],
  ['url', 'https://', 'a string that is not one'],
  ['url', 1, 'a number'],
]

describe('a value cast to a type', () => {
  it.each(ACCEPTED)('%s takes %j as %j', (type, value, cast) => {
    expect(castValue(type, value)).toEqual({ ok: true, value: cast })
  })

  it.each(REFUSED)('%s rejects %j: got %s', (type, value, got) => {
    expect(castValue(type, value)).toMatchObject({ ok: false, error: { got } })
  })

  it('does not change when cast again', () => {
    fc.assert(
      fc.property(fc.constantFrom(...PARAMETER_TYPES), nastyJson, (type, value) => {
        const cast = castValue(type, value)
        if (cast.ok) expect(castValue(type, cast.value)).toEqual(cast)
      }),
    )
  })

  it('never appears in the error', () => {
    const said = (type: ParameterType, value: string): string => JSON.stringify(castValue(type, value, 'text'))
    fc.assert(
      fc.property(fc.constantFrom(...PARAMETER_TYPES), fc.stringMatching(/^\$[A-Z]{6,12}$/), (type, secret) => {
        if (type !== 'string') expect(said(type, secret)).not.toContain(secret)
      }),
    )
  })
})

describe('text cast to json', () => {
  it.each([
    ['{"a": [1]}', { a: [1] }],
    ['"x"', 'x'],
    [' null ', null],
  ])('%s is parsed', (text, value) => {
    expect(castValue('json', text, 'text')).toEqual({ ok: true, value })
  })

  it.each(['x', '{', '', '{"__proto__": 1}', '['.repeat(65) + ']'.repeat(65)])('%s is rejected', text => {
    expect(castValue('json', text, 'text')).toEqual({
      ok: false,
      error: { expected: 'JSON', got: 'a string that is not JSON' },
    })
  })

  it('does not change if it is already structured', () => {
    expect(castValue('json', { a: '1' }, 'text')).toEqual({ ok: true, value: { a: '1' } })
  })
})
