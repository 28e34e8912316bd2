import { describe, expect, it } from 'vitest'
import type { JsonObject, JsonValue } from '../../src/lib/kernel/json.ts'
import { compileParameters } from '../../src/templates/compile-parameters.ts'
import { inputSchemaOf } from '../../src/templates/input-schema.ts'
import type { RequestTemplate } from '../../src/templates/template.ts'
import { compiled, errorsOf, refusal, rendered } from './compiling.ts'

const API = 'https://api.example.com'
const FORM = [{ name: 'Content-Type', value: 'application/x-www-form-urlencoded' }]
const cookies = (value: string) => ({ headers: [{ name: 'Cookie', value }] })
const header = (value: string) => ({ headers: [{ name: 'X-List', value }] })

describe('a list without members', () => {
  it.each([[[]], [{}], [[null]], [{ a: null }], [null]])('counts as missing: %j', v => {
    const url = `${API}/?a=1&b={{json:v? | comma}}&c={{c?}}`
    expect(rendered({ url }, { v }).url).toBe(`${API}/?a=1`)
    expect(refusal({ url: `${API}/?b={{json:v | comma}}` }, { v })).toBe('v must not be empty')
    expect(rendered({ url: `${API}/{{json:v | comma=[1, "|"]}}` }, { v }).url).toBe(`${API}/1,%7C`)
  })

  it('counts as missing with "brackets" if there is no text in it', () => {
    const url = `${API}/?f{{json:v? | brackets}}`
    expect(rendered({ url }, { v: { a: {}, b: [[], { c: null }] } }).url).toBe(`${API}/`)
  })

  it('is refused in the path, also of a placeholder that is optional because another one is required', () => {
    const url = `${API}/{{json:v? | comma}}?b={{json:v}}`
    expect(refusal({ url }, { v: [] })).toBe('v must not be empty')
  })

  it('is sent where it is not serialized', () => {
    const parts = { url: `${API}/?b={{json:v? | comma}}`, body: '{"v": {{json:v}}}' }
    expect(rendered(parts, { v: [] })).toMatchObject({ url: `${API}/`, body: '{"v": []}' })
  })

  it('is no default, except of an optional placeholder', () => {
    expect(errorsOf({ url: `${API}/?b={{json:v | comma=[]}}` })).toMatchObject([
      { column: 28, message: 'the default of "v" must not be empty. Write "?" instead' },
    ])
  })
})

describe('the Cookie header', () => {
  const parts = cookies('a={{a?}}; b=1; c={{json:c? | repeat}}; d=x{{d?}}{{e?}}; {{json:f? | spread}}')

  it.each<[Record<string, JsonValue>, string]>([
    [{}, 'b=1'],
    [{ a: 'x;' }, 'a=x%3B; b=1'],
    [{ c: [] }, 'b=1'],
    [{ c: [1, 2], d: 'y' }, 'b=1; c=1; c=2'],
    [{ d: 'y', e: 'z', f: { g: 3 } }, 'b=1; d=xyz; g=3'],
  ])('keeps and drops each cookie on its own: %j', (values, becomes) => {
    expect(rendered(parts, values).headers).toEqual([['Cookie', becomes]])
  })

  it('is left out if no cookie is left', () => {
    expect(rendered(cookies('a={{a?}}; {{json:b? | spread}}')).headers).toEqual([])
  })
})

const ALREADY = /key that the request already has/

describe('keys with brackets that servers read in different ways', () => {
  it.each(['[a]', ']a', 'a]', '[[a]]', 'a[', 'a[b', 'a[b]c', 'a[b[c]]', '[]'])('are refused: %s', name => {
    const url = `${API}/?{{json:v | spread}}`
    expect(refusal({ url }, { v: { [name]: 1 } })).toMatch(/brackets except \[member\] at its end/)
  })

  it.each(['a[]', 'a[b]', 'a[b][][c d]'])('do not include those of members: %s', name => {
    const { url } = rendered({ url: `${API}/?{{json:v | spread}}` }, { v: { [name]: 1 } })
    expect([...new URL(url).searchParams]).toEqual([[name, '1']])
  })
})

describe('keys that the request already has', () => {
  it.each<[string, JsonValue]>([
    ['?admin=0&{{json:v | spread}}', { admin: 1 }],
    ['?{{json:v | spread}}&admin=0', { b: 1, admin: 1 }],
    ['?admin&{{json:v | spread}}', { admin: 1 }],
    ['?%61dmin=0&{{json:v | spread}}', { admin: 1 }],
    ['?a+b=0&{{json:v | spread}}', { 'a b': 1 }],
    ['?admin=0&{{json:v | spread}}', { Admin: 1 }],
    ['?admin=0&{{json:v | spread}}', { ' admin': 1 }],
    ['?admin=0&{{json:v | spread}}', { 'admin[]': 1 }],
    ['?user[admin]=0&{{json:v | spread}}', { user: 1 }],
    ['?user[admin]=0&{{json:v | spread}}', { 'user[admin][x]': 1 }],
    ['?is_admin=0&{{json:v | spread}}', { 'is.admin': 1 }],
    ['?user.admin=0&{{json:v | spread}}', { 'user[admin]': 1 }],
    ['?[admin]=0&{{json:v | spread}}', { admin: 1 }],
    ['?user%5Badmin%5D=0&user{{json:v | brackets}}', { name: 'x', admin: 1 }],
    ['/x;admin=0;{{json:v | spread}}', { admin: 1 }],
    ['/x;admin;{{json:v | spread}}', { admin: 1 }],
  ])('are refused: %s with %j', (template, v) => {
    expect(refusal({ url: API + template }, { v })).toMatch(ALREADY)
  })

  it('are refused in forms, cookies and headers', () => {
    const v = { admin: 1 }
    expect(refusal({ headers: FORM, body: 'admin=0&{{json:v | spread}}' }, { v })).toMatch(ALREADY)
    expect(refusal(cookies('admin=0; {{json:v | spread}}'), { v })).toMatch(ALREADY)
    expect(refusal(header('admin=0, {{json:v | spread}}'), { v })).toMatch(ALREADY)
  })

  it('are refused as parameters of a member of a header', () => {
    const parts = header('a=1;admin=0, {{json:v | spread}}')
    expect(refusal(parts, { v: { b: '1;admin=1' } })).toMatch(/contain a semicolon/)
    expect(refusal(parts, { v: { 'b;admin': 1 } })).toMatch(/contain a semicolon/)
  })

  it('are refused if another value brought them', () => {
    const url = `${API}/?{{json:a? | spread}}&f{{json:f? | brackets}}&f{{json:g? | brackets}}&{{json:b? | spread}}`
    expect(refusal({ url }, { a: { x: 1 }, b: { X: 2 } })).toMatch(
      /^b must not have a key that the request already has/,
    )
    expect(refusal({ url }, { f: { x: 1 }, b: { 'f[x]': 2 } })).toMatch(/^b must not/)
    expect(refusal({ url }, { f: { x: 1 }, g: { x: 2 } })).toMatch(/^g must not/)
    expect(refusal(cookies('{{json:a | spread}}; {{json:b | spread}}'), { a: { x: 1 }, b: { x: 2 } })).toMatch(
      /^b must/,
    )
    expect(rendered({ url }, { a: { x: 1 }, f: { x: 1 }, g: { y: 1 }, b: { y: 1 } }).url).toBe(
      `${API}/?x=1&f%5Bx%5D=1&f%5By%5D=1&y=1`,
    )
  })

  it('do not include keys of other names, or other members of the same object', () => {
    const url = `${API}/?user[admin]=0&user{{json:u | brackets}}&{{json:o | spread}}`
    expect(rendered({ url }, { u: { name: 'x' }, o: { admin: 1 } }).url).toBe(
      `${API}/?user[admin]=0&user%5Bname%5D=x&admin=1`,
    )
  })
})

describe('a list that would make a request huge', () => {
  const long = 'k'.repeat(60_000)
  const wide = Array.from({ length: 90_000 }, () => '')
  const deep = (levels: number): JsonValue => (levels === 0 ? wide : { [long.slice(0, 1_000)]: deep(levels - 1) })

  it.each<[string, Partial<RequestTemplate>, JsonValue]>([
    ['brackets in a query', { url: `${API}/?f{{json:v | brackets}}` }, { [long]: wide }],
    ['brackets in a form', { headers: FORM, body: 'f{{json:v | brackets}}' }, { a: deep(60) }],
    ['repeat', { headers: FORM, body: `${long}={{json:v | repeat}}` }, wide],
    ['comma', header('{{json:v | comma}}'), wide.map(() => 'x')],
    [
      'spread',
      cookies('{{json:v | spread}}'),
      Object.fromEntries(wide.slice(0, 9_000).map((_, index) => [`k${index}`, index])),
    ],
    ['segments', { url: `${API}/{{v | segments}}` }, 'a/'.repeat(40_000)],
  ])('is refused before it is put together: %s', (_what, parts, v) => {
    expect(refusal(parts, { v })).toMatch(/^v is too long \(at most (?:65536|16777216) characters/)
  })
})

describe('a list of very many pairs', () => {
  const pairs = (count: number, first = 'k') =>
    Object.fromEntries(Array.from({ length: count }, (_, index) => [`${first}${index}`, 0]))

  it.each(['{{json:v | spread}}', 'f{{json:v | brackets}}'])('is refused from 10,001 on: %s', body => {
    const parts = { headers: FORM, body }
    expect(rendered(parts, { v: pairs(10_000) }).body?.split('&')).toHaveLength(10_000)
    expect(refusal(parts, { v: pairs(10_001) })).toMatch(/^v must be an object of at most 10000 pairs, /)
  })

  it('is refused if only several of them together are too many', () => {
    const parts = { headers: FORM, body: '{{json:v | spread}}&f{{json:w | brackets}}' }
    expect(rendered(parts, { v: pairs(5_000), w: pairs(5_000) }).body?.split('&')).toHaveLength(10_000)
    expect(refusal(parts, { v: pairs(5_000), w: pairs(5_001) })).toBe(
      'w must not have so many keys (at most 10000 of all values together)',
    )
  })
})

describe('the argument of a parameter that is serialized', () => {
  const url = `${API}/x;a={{json:a | repeat}}`
  const checks = (template: string, metas = {}) => {
    const result = compileParameters(compiled({ url: API + template }).parameters, metas)
    if (!result.ok) throw new Error(JSON.stringify(result.error))
    return result.value
  }

  it.each([
    ['repeat', 'x={{json:v | repeat}}', { type: 'array', items: {} }],
    ['tab', 'x={{json:v | tab}}', { type: 'array', items: {} }],
    ['dot', 'x={{json:v | dot}}', { type: 'array', items: {} }],
    ['comma', 'x={{json:v | comma}}', { anyOf: [{ type: 'array', items: {} }, { type: 'object' }] }],
    ['brackets', 'x{{json:v | brackets}}', { type: 'object' }],
    ['spread', '{{json:v | spread}}', { type: 'object' }],
    ['two that accept an array', 'x={{json:v | comma}}&y={{json:v | dot}}', { type: 'array', items: {} }],
    ['segments, in the path', 'x={{v}}', { type: 'string' }],
  ])('has a schema of the types that are accepted: %s', (_what, query, schema) => {
    expect(inputSchemaOf(checks(`/?${query}`)).properties).toEqual({ v: schema })
  })

  it('is checked against these types, and parsed if it is a string', () => {
    const [v] = checks('/?x={{json:v | repeat}}')
    expect(v?.check([1])).toEqual({ ok: true, value: [1] })
    expect(v?.check('["a"]')).toEqual({ ok: true, value: ['a'] })
    expect(v?.check({ a: 1 })).toEqual({ ok: false, error: { expected: 'an array', got: 'an object' } })
    expect(v?.check('a')).toEqual({ ok: false, error: { expected: 'an array', got: 'a string' } })
    expect(refusal({ url }, { a: 'x' })).toMatch(/^a must be an array/)
  })

  it('can have a schema, which chooses one of the types', () => {
    const schemaOf = (template: string, schema: JsonObject) =>
      inputSchemaOf(checks(template, { v: { schema } })).properties
    const own = { type: 'array', items: { type: 'string' } }
    expect(schemaOf('/?x={{json:v | comma}}', own)).toEqual({ v: own })
    expect(schemaOf('/?x={{json:v | repeat}}', { maxItems: 3 })).toEqual({
      v: { type: 'array', items: {}, maxItems: 3 },
    })
  })

  it('can neither have a schema of another type nor be bound to a secret by default', () => {
    const { parameters } = compiled({ url: `${API}/?x={{json:v | repeat}}` })
    expect(compileParameters(parameters, { v: { schema: { type: 'object' } } })).toMatchObject({
      error: [
        {
          path: 'parameters.v.schema',
          message:
            'v: the schema accepts no value of this parameter: an array in the template, but object in the schema',
        },
      ],
    })
    const binding = { source: 'server' as const, key: 'token', secret: true }
    expect(compileParameters(parameters, { v: { binding } })).toMatchObject({
      error: [
        { path: 'parameters.v.binding', message: expect.stringContaining('a secret cannot be a part of a list') },
      ],
    })
    expect(compileParameters(parameters, { v: { binding: { ...binding, secret: false } } }).ok).toBe(true)
  })

  it('shows its serialization at its position, with the name of what contains it', () => {
    const headers = [{ name: 'Cookie', value: 'k={{json:c | repeat}}; {{json:d | spread}}' }]
    const { parameters } = compiled({
      url: `${API}/{{p | segments}}?t={{json:t | repeat}}&f{{json:f | brackets}}&{{json:o | spread}}`,
      headers,
    })
    const places = parameters.flatMap(parameter => parameter.places)
    expect(places.map(({ kind, name, serialization }) => [kind, name, serialization])).toEqual([
      ['path', undefined, 'segments'],
      ['query', 't', 'repeat'],
      ['query', 'f', 'brackets'],
      ['query', undefined, 'spread'],
      ['cookie', 'k', 'repeat'],
      ['cookie', undefined, 'spread'],
    ])
  })
})
