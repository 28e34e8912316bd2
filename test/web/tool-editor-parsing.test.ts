import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import fc from 'fast-check'
import { beforeAll, describe, expect, it } from 'vitest'
import { z } from 'zod'
import { readTemplate } from '../../src/templates/compile.ts'
import { formatJson } from '../../src/web/overview/format-json.ts'
import { offerPlaceholders } from '../../src/web/tool-editor/foreign-placeholders.ts'
import { placeErrors } from '../../src/web/tool-editor/tool-editor-errors.ts'
import { runsOf } from '../support/cases-of-run.ts'

const Pieces = z.array(z.object({ text: z.string(), type: z.string().optional() }))
const Module = z.object({ splitTemplate: z.custom<(text: string) => unknown>(value => typeof value === 'function') })

/** Template texts with many special characters. */
const templateText = fc
  .array(
    fc.oneof(
      fc.constantFrom('{{', '}}', '{', '}', '\\', ':', '=', '?', 'integer:', 'url:', ' ', '\n', 'id', '/'),
      fc.string({ unit: 'grapheme', maxLength: 4 }),
    ),
    { maxLength: 40 },
  )
  .map(pieces => pieces.join(''))

describe('the highlighting of a template', () => {
  let split: (text: string) => z.infer<typeof Pieces>
  beforeAll(async () => {
    const path = join(import.meta.dirname, '../../public/js/template-highlight.js')
    const { splitTemplate } = Module.parse(await import(pathToFileURL(path).href))
    split = text => Pieces.parse(splitTemplate(text))
  })

  it('keeps any text unchanged', () => {
    fc.assert(
      fc.property(templateText, text => {
        expect(
          split(text)
            .map(piece => piece.text)
            .join(''),
        ).toBe(text)
      }),
      { numRuns: runsOf(2_000) },
    )
  })

  it('highlights the placeholders that the server finds, with their types', () => {
    const around = {
      before: fc.constantFrom('', 'a', '/', '\\\\', '\\{{literal}} ', 'é'),
      name: fc.constantFrom('a', 'b_1', 'c.d', 'e-f'),
    }
    const types = fc.constantFrom('', 'integer:', 'number:', 'boolean:', 'json:', 'url:', 'string:')
    const lists = fc.constantFrom(' | comma', '? | spread', ' | repeat=[":"]')
    const placeholder = fc.oneof(
      fc.record({ ...around, type: types, end: fc.constantFrom('', '?', '=1') }),
      fc.record({ ...around, type: fc.constant('json:'), end: lists }),
      fc.record({ ...around, type: fc.constantFrom('', 'string:'), end: fc.constant('? | segments') }),
    )
    fc.assert(
      fc.property(fc.uniqueArray(placeholder, { selector: ({ name }) => name, maxLength: 4 }), placeholders => {
        const body = placeholders.map(({ before, type, name, end }) => `${before}{{${type}${name}${end}}}`).join(' ')
        const headers = [{ name: 'Content-Type', value: 'text/plain' }]
        const { parameters } = readTemplate({ method: 'POST', url: 'https://a.example/', headers, body })
        const types = split(body).flatMap(({ type }) => type ?? [])
        expect(types).toEqual(parameters.map(({ type }) => type))
      }),
    )
  })

  it('highlights neither a literal brace pair nor an unknown type', () => {
    expect(split('\\{{a}} {{b} {{colour:c}} {{number:d=1}}')).toEqual([
      { text: '\\{{a}} {{b} {{colour:c}} ' },
      { text: '{{number:d=1}}', type: 'number' },
    ])
  })
})

describe('a URL with placeholders of other tools', () => {
  it.each([
    ['https://api.example.com/users/{id}', 'https://api.example.com/users/{{id}}', ['id']],
    [
      'https://api.example.com/users/:id/posts/:post_id',
      'https://api.example.com/users/{{id}}/posts/{{post_id}}',
      ['id', 'post_id'],
    ],
    ['http://localhost:8080/:id?q={query}#{part}', 'http://localhost:8080/{{id}}?q={{query}}#{part}', ['query', 'id']],
    ['https://{tenant}.example.com/a/{id}.json', 'https://{{tenant}}.example.com/a/{{id}}.json', ['tenant', 'id']],
    ['https://api.example.com/users/%7Bid%7D', 'https://api.example.com/users/{{id}}', ['id']],
    ['{{url:base}}/:id/{{other}}', '{{url:base}}/{{id}}/{{other}}', ['id']],
    [
      'https://a.example/users/<user-id>?sort=<sort>',
      'https://a.example/users/{{user-id}}?sort={{sort}}',
      ['user-id', 'sort'],
    ],
  ])('%s is converted', (url, offered, names) => {
    expect(offerPlaceholders(url)).toMatchObject({ from: url, url: offered })
    expect(offerPlaceholders(url)?.names).toEqual(expect.arrayContaining(names))
    expect(readTemplate({ method: 'GET', url: offered, headers: [] }).errors).toEqual([])
  })

  it.each([
    'https://api.example.com/users/{{id}}',
    'https://api.example.com:8443/a:b/c',
    'https://api.example.com/v1/jobs:run',
    'https://:8080',
    'https://api.example.com/a?when=10:30',
    'https://api.example.com/{}/{not a name}/\\{{x}}',
    '{{url:base}}/{{integer:id=1}}',
    '',
  ])('%s is left unchanged', url => {
    expect(offerPlaceholders(url)).toBeUndefined()
  })

  it('is converted without asking unless that would let the caller choose the host', () => {
    expect(offerPlaceholders('https://api.example.com/{id}')?.isAutomatic).toBe(true)
    expect(offerPlaceholders('https://{tenant}.example.com/{id}')?.isAutomatic).toBe(false)
  })

  it('is converted completely, without other changes', () => {
    const piece = fc.constantFrom(
      '{id}',
      ':name',
      '<c>',
      '{{x}}',
      '/',
      'a',
      '?q=',
      '&',
      '#',
      '.',
      '-',
      '{',
      '}',
      ':',
      '%7Bb%7D',
    )
    fc.assert(
      fc.property(fc.array(piece, { maxLength: 12 }), pieces => {
        const url = `https://a.example/${pieces.join('')}`
        const once = offerPlaceholders(url)?.url
        if (once === undefined) return
        expect(offerPlaceholders(once)?.url ?? once).toBe(once)
        const bare = (text: string) => text.replaceAll(/[{}:<>]|%7B|%7D/gi, '')
        expect(bare(once)).toBe(bare(url))
      }),
      { numRuns: runsOf(2_000) },
    )
  })
})

describe('formatted JSON', () => {
  it('has the same value, with numbers and strings as written', () => {
    fc.assert(
      fc.property(fc.jsonValue(), value => {
        const formatted = formatJson(JSON.stringify(value)) ?? []
        expect(JSON.parse(formatted.map(({ text }) => text).join(''))).toEqual(JSON.parse(JSON.stringify(value)))
      }),
    )
    const text = '{"big":123456789012345678901234567890,"a\\u0041":[1.0,2e3],"a\\u0041":{}}'
    const formatted = (formatJson(text) ?? []).map(segment => segment.text).join('')
    expect(formatted.replaceAll(/\s/g, '')).toBe(text)
    expect(formatted).toBe(
      '{\n  "big": 123456789012345678901234567890,\n  "a\\u0041": [1.0, 2e3],\n  "a\\u0041": {}\n}',
    )
  })

  it('marks only keys, and ignores invalid JSON', () => {
    const keys = formatJson('{"a": "b: \\"c\\":", "d": [{"e": 1}]}')?.flatMap(({ text, isKey }) =>
      isKey ? [text] : [],
    )
    expect(keys).toEqual(['"a"', '"d"', '"e"'])
    expect(formatJson('{"a": 1,}')).toBeUndefined()
    expect(formatJson('plain')).toBeUndefined()
  })
})

describe('an error', () => {
  it('is assigned to its field, with line and column', () => {
    const placed = placeErrors(
      [
        { path: 'headers[1].value', message: 'line 1, column 3: "x" is not a valid name' },
        { path: 'parameters.page.size.minimum', message: 'page.size: the minimum is greater than the maximum' },
        { path: 'parameters["a-b"].description', message: 'is longer than 2,000 characters' },
        { path: 'allowedOrigins[1]', message: 'must be an origin such as https://api.example.com' },
        { path: 'somewhere', message: 'is odd' },
      ],
      [
        { line: 1, valueColumn: 9 },
        { line: 4, valueColumn: 12 },
      ],
    )
    expect(Object.fromEntries(placed)).toEqual({
      headers: ['Line 4, column 14: "x" is not a valid name.'],
      'parameter:page.size:minimum': ['The minimum is greater than the maximum.'],
      'parameter:a-b:description': ['Is longer than 2,000 characters.'],
      allowedOrigins: ['Line 2 must be an origin such as https://api.example.com.'],
      '': ['Is odd.'],
    })
  })

  it('is assigned to both fields if it mentions two', () => {
    const message =
      'line 1, column 9: "limit" is integer in url, line 1, column 80, but number in headers[0].value, line 1, column 1. Use the same type everywhere'
    const placed = placeErrors([{ path: 'headers[0].value', message }], [{ line: 3, valueColumn: 9 }])
    const sentence =
      '"limit" is integer in the URL (line 1, column 80), but number in the headers (line 3, column 9). Use the same type everywhere.'
    expect(Object.fromEntries(placed)).toEqual({ url: [sentence], headers: [sentence] })
  })
})
