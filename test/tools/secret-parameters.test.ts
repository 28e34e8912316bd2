import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { type NamedParameter, secretRuleOf, secretRuleOfParameter } from '../../src/tools/secret-parameters.ts'
import { assertDefinition } from '../../src/tools/tool-definition.ts'
import { REAL_PARAMETERS } from './real-parameters.ts'

/** A text with each letter in either case. */
const inAnyCase = (text: string): fc.Arbitrary<string> =>
  fc.mixedCase(fc.constant(text), {
    toggleCase: char => (char === char.toLowerCase() ? char.toUpperCase() : char.toLowerCase()),
  })

describe('a parameter, judging by its name', () => {
  it('is tried with at least a hundred real names', () => {
    expect(new Set(REAL_PARAMETERS.map(({ place, name }) => `${place} ${name}`)).size).toBeGreaterThanOrEqual(100)
  })

  it.each(REAL_PARAMETERS)('$name in the $place of $api: $rule', ({ place, name, rule }) => {
    expect(secretRuleOf({ place, name })).toBe(rule)
  })

  it('that is listed is kept whatever the case and the separators', () => {
    const word = fc.constantFrom('api key', 'access token', 'client secret', 'secret', 'password')
    const written = word.chain(words =>
      fc
        .tuple(inAnyCase(words), fc.constantFrom('', '_', '-', '.', ' '))
        .map(([text, mark]) => text.replace(' ', mark)),
    )
    fc.assert(
      fc.property(written, fc.constantFrom('query', 'body'), (name, place) => {
        expect(secretRuleOf({ place, name })).toBe('kept')
        expect(secretRuleOf({ place, name: `user[${name}]` })).toBe('kept')
        expect(secretRuleOf({ place: 'path', name })).toBe('offered')
      }),
    )
  })

  // In mixed case, a capital begins a word: `X-ASync-Token` has the word sync.
  it.each(REAL_PARAMETERS.filter(({ place }) => place === 'header'))(
    'that is a header is kept, or not, also in lower and upper case: $name',
    ({ name, rule }) => {
      for (const text of [name.toLowerCase(), name.toUpperCase()]) {
        expect(secretRuleOf({ place: 'header', name: text }) === 'kept').toBe(rule === 'kept')
      }
    },
  )

  it('that has a word for a position before token, key or secret is never a secret, in any place', () => {
    const word = (...words: string[]) => fc.constantFrom(...words)
    const position = word(
      'page',
      'next',
      'cursor',
      'sync',
      'continuation',
      'idempotency',
      'sort',
      'partition',
      'primary',
    )
    const words = fc.tuple(word('', 'api', 'x'), position, word('', 'result', 'start'), word('token', 'key', 'secret'))
    const capital = (text: string): string => text.charAt(0).toUpperCase() + text.slice(1)
    const name = fc.tuple(words, word('_', '-', '.', '')).map(([all, mark]) => {
      const given = all.filter(one => one !== '')
      return mark === '' ? given.map(capital).join('') : given.join(mark)
    })
    const place = fc.constantFrom<NamedParameter['place']>('header', 'query', 'body', 'path')
    const value = fc.constantFrom(undefined, 'CAUQAAab12'.repeat(4), `eyJ${'a1'.repeat(9)}.x.y`)
    fc.assert(
      fc.property(name, place, value, (written, where, own) => {
        expect(secretRuleOf({ place: where, name: written, value: own })).toBe('none')
      }),
    )
  })

  it('gets a rule in linear time, however long its names and value are', () => {
    const piece = fc.constantFrom(
      'a',
      'A',
      'aA',
      '_',
      '-',
      '.',
      '[',
      ']',
      ' ',
      'key',
      'Token',
      '\u0301\u0316',
      'ﷺ',
      ';',
      '/',
    )
    const text = fc
      .tuple(fc.array(piece, { minLength: 1, maxLength: 4 }), piece)
      .map(([start, run]) => start.join('') + run.repeat(200_000))
    const place = fc.constantFrom<NamedParameter['place']>('header', 'query', 'body', 'path', 'cookie')
    const named = fc.record({ place, name: text, alias: text, value: text })
    fc.assert(
      fc.property(named, parameter => {
        expect(secretRuleOf(parameter)).toMatch(/^(?:kept|offered|none)$/)
      }),
      { numRuns: 30 },
    )
  })
})

const GITHUB_TOKEN = `ghp_${'a1B2'.repeat(9)}`
const HEX = '6dcb09b5b57875f3'.repeat(2)

describe('a parameter, judging by its value', () => {
  it.each([
    { place: 'query', name: 'q', value: GITHUB_TOKEN, rule: 'kept' },
    { place: 'path', name: 'id', value: GITHUB_TOKEN, rule: 'kept' },
    { place: 'body', name: 'who', value: HEX, rule: 'kept' },
    { place: 'header', name: 'X-Tenant', value: 'Bearer of-tenants', rule: 'kept' },
    { place: 'query', name: 'q', value: 'Bearer of-tenants', rule: 'none' },
    { place: 'path', name: 'sheet', value: HEX, rule: 'none' },
    { place: 'query', name: 'fileId', value: HEX, rule: 'none' },
    { place: 'query', name: 'sha256', value: HEX, rule: 'none' },
    { place: 'query', name: 'v', alias: 'commit', value: HEX, rule: 'none' },
    { place: 'query', name: 'cursor', value: HEX, rule: 'none' },
    { place: 'query', name: 'after', alias: 'pageToken', value: HEX, rule: 'none' },
    { place: 'query', name: 'q', value: 'cats and dogs', rule: 'none' },
    { place: 'body', name: 'q', value: `Bearer ${GITHUB_TOKEN}`, rule: 'kept' },
    { place: 'query', name: 'cursor', value: GITHUB_TOKEN, rule: 'kept' },
    { place: 'query', name: 'next_url', value: 'https://ada:pw@api.example.com', rule: 'kept' },
    { place: 'query', name: 'pageToken', value: GITHUB_TOKEN, rule: 'none' },
    { place: 'query', name: 'q', value: `key-${HEX}`, rule: 'kept' },
    { place: 'query', name: 'q', value: 'key-account-manager', rule: 'none' },
  ] as const)('$value in the $place as $name: $rule', ({ rule, ...parameter }) => {
    expect(secretRuleOf(parameter)).toBe(rule)
  })
})

describe('a parameter of a tool', () => {
  const header = (name: string, value: string) => ({ headers: [{ name, value }] })
  it.each([
    { what: 'the query parameter counts', parts: { url: 'https://a.example/?api_key={{k}}' }, rule: 'kept' },
    { what: 'its own name counts', parts: { url: 'https://a.example/?q={{string:api_key}}' }, rule: 'kept' },
    { what: 'the header counts', parts: header('Authorization', 'Bearer {{who}}'), rule: 'kept' },
    { what: 'its own name is not that of a header', parts: header('X-Tenant', '{{tenant_key}}'), rule: 'offered' },
    { what: 'a header for another purpose counts', parts: header('Idempotency-Key', '{{key}}'), rule: 'none' },
    {
      what: 'its own name says that it is a position',
      parts: { url: 'https://a.example/?token={{page_token}}' },
      rule: 'none',
    },
    { what: 'a cookie', parts: header('Cookie', 'theme={{theme}}'), rule: 'kept' },
    { what: 'the innermost JSON member counts', parts: { body: '{"secret": {"name": "{{n}}"}}' }, rule: 'none' },
    { what: 'a JSON member', parts: { body: '{"login": {"password": "{{p}}"}}' }, rule: 'kept' },
    { what: 'XML', parts: { ...header('Content-Type', 'text/xml'), body: '<a>{{password}}</a>' }, rule: 'kept' },
    {
      what: 'an XML element',
      parts: {
        ...header('Content-Type', 'text/xml'),
        body: '<s:login xmlns:s="urn:s"><s:Password>{{p}}</s:Password></s:login>',
      },
      rule: 'kept',
    },
    { what: 'a part of the path', parts: { url: 'https://a.example/bot{{token}}/send' }, rule: 'offered' },
    { what: 'a base URL', parts: { url: '{{url:key}}/send' }, rule: 'offered' },
    {
      what: 'the strictest of its places counts',
      parts: { url: 'https://a.example/{{k}}?page={{k}}', ...header('X-Api-Key', '{{k}}') },
      rule: 'kept',
    },
    { what: 'a boolean', parts: { url: 'https://a.example/?secret={{boolean:k}}' }, rule: 'none' },
    {
      what: 'one of several listed values',
      parts: { ...header('Authorization', '{{k}} abc'), parameters: { k: { enum: ['Basic', 'Bearer'] } } },
      rule: 'none',
    },
    { what: 'its default in the template', parts: { url: `https://a.example/?q={{q=${GITHUB_TOKEN}}}` }, rule: 'kept' },
    {
      what: 'its default',
      parts: { url: 'https://a.example/?q={{q}}', parameters: { q: { default: GITHUB_TOKEN } } },
      rule: 'kept',
    },
    {
      what: 'its example beside a default',
      parts: { url: 'https://a.example/?q={{q=}}', parameters: { q: { example: GITHUB_TOKEN } } },
      rule: 'kept',
    },
    {
      what: 'its example',
      parts: { url: 'https://a.example/?q={{q}}', parameters: { q: { example: GITHUB_TOKEN } } },
      rule: 'kept',
    },
    {
      what: 'a list, to which no secret can be bound',
      parts: { headers: [{ name: 'X-Api-Key', value: '{{json:keys | comma}}' }] },
      rule: 'none',
    },
  ])('$what: $rule', ({ parts, rule }) => {
    const definition = {
      name: 'tool',
      method: 'POST',
      url: 'https://a.example/',
      headers: [],
      parameters: {},
      ...parts,
    }
    expect(assertDefinition(definition).parameters.map(secretRuleOfParameter)).toEqual([rule])
  })
})
