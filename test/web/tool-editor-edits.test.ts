import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import fc from 'fast-check'
import { beforeAll, describe, expect, it } from 'vitest'
import { z } from 'zod'
import { readTemplate } from '../../src/templates/compile.ts'
import { PARAMETER_TYPES, SERIALIZATIONS } from '../../src/templates/template.ts'
import { AUTH_KINDS, findAuth, setAuth } from '../../src/web/tool-editor/template-auth.ts'
import { BODY_KINDS, formatJsonBody, setBodyKind } from '../../src/web/tool-editor/template-body.ts'
import { headersIn } from '../../src/web/tool-editor/template-headers.ts'
import { runsOf } from '../support/cases-of-run.ts'

type Texts = Partial<Record<'url' | 'headers' | 'body', string | undefined>>
const textsOf = ({ url = 'https://a.example/things', headers = '', body = '' }: Texts) => ({ url, headers, body })

describe('the auth of a request', () => {
  it.each([
    [{}, { kind: 'none' }],
    [{ headers: 'Accept: a\nauthorization: bearer {{t}}' }, { kind: 'bearer', name: 'authorization' }],
    [{ headers: 'Authorization: Basic {{t}}' }, { kind: 'basic' }],
    [{ headers: 'Authorization: AWS4-HMAC-SHA256 x' }, { kind: 'other' }],
    [{ headers: 'Cookie: a={{a}}\nX-Api-Key: {{k}}' }, { kind: 'header', name: 'X-Api-Key', value: '{{k}}' }],
    [{ url: 'https://a.example/?q={{q?}}&api_key={{k}}#x' }, { kind: 'query', name: 'api_key', value: '{{k}}' }],
    [{ url: 'https://a.example/{{id=?api_key=1}}' }, { kind: 'none' }],
  ])('of %j is %j', (texts, found) => {
    expect(findAuth(textsOf(texts))).toMatchObject(found)
  })

  it.each([
    ['bearer', { headers: 'Authorization: Bearer {{token}}' }],
    ['basic', { headers: 'Authorization: Basic {{basic_credentials}}' }],
    ['header', { headers: 'X-Api-Key: {{api_key}}' }],
    ['query', { url: 'https://a.example/things?api_key={{api_key}}' }],
    ['none', {}],
  ] as const)('%s is written into the request, and found there', (kind, texts) => {
    const written = setAuth(textsOf({}), kind)
    expect(written).toEqual(textsOf(texts))
    expect(findAuth(written).kind).toBe(kind)
  })

  it('replaces the former one, and leaves the rest', () => {
    const kinds = fc.array(fc.constantFrom(...AUTH_KINDS), { minLength: 1, maxLength: 5 })
    fc.assert(
      fc.property(kinds, all => {
        const start = textsOf({
          url: 'https://a.example/{{id}}?q={{q?}}&r=1#top',
          headers: 'Accept: application/json',
          body: '{{token}}',
        })
        const end = all.reduce(setAuth, start)
        expect(findAuth(end).kind).toBe(all.at(-1))
        expect(setAuth(end, 'none')).toEqual(start)
        // The body has a parameter of this name already.
        expect(end.headers).not.toContain('{{token}}')
        const headers = headersIn(end.headers).map(({ name, value }) => ({ name, value }))
        expect(
          readTemplate({ method: 'POST', url: end.url, headers, body: 'x' }).errors.map(one => one.message),
        ).toEqual(
          readTemplate({ method: 'POST', url: start.url, headers: [], body: 'x' }).errors.map(one => one.message),
        )
      }),
      { numRuns: runsOf(200) },
    )
  })
})

describe('the kind of a body', () => {
  it.each(BODY_KINDS)('%s is set with its Content-Type and a valid example', kind => {
    const { url, headers, body } = setBodyKind(textsOf({ headers: 'Accept: a\nContent-type: text/csv' }), kind)
    const all = headersIn(headers).map(({ name, value }) => ({ name, value }))
    const read = readTemplate({ method: 'POST', url, headers: all, body: body === '' ? undefined : body })
    expect(read).toMatchObject({ bodyKind: kind, errors: [] })
    expect(all.filter(({ name }) => name.toLowerCase() === 'content-type')).toHaveLength(kind === 'none' ? 0 : 1)
    expect(headers).toContain('Accept: a')
  })

  it('keeps a body that was typed, and a Content-Type of the same kind', () => {
    const texts = textsOf({ headers: 'Content-Type: application/vnd.a+json', body: '{"a": 1}' })
    expect(setBodyKind(texts, 'json')).toEqual(texts)
    expect(setBodyKind(texts, 'form')).toMatchObject({
      headers: 'Content-Type: application/x-www-form-urlencoded',
      body: '{"a": 1}',
    })
  })
})

describe('a formatted JSON body', () => {
  it.each([
    [
      '{"a":{{json:a}},"b":"x {{b?}} y","c":{"d":[]}}',
      '{\n  "a": {{json:a}},\n  "b": "x {{b?}} y",\n  "c": {\n    "d": []\n  }\n}',
    ],
    ['{{json:all}}', '{{json:all}}'],
    ['{"a": 1,}', '{"a": 1,}'],
    ['{"a": "{{b"}', '{"a": "{{b"}'],
    ['', ''],
  ])('%s becomes %s', (body, formatted) => {
    expect(formatJsonBody(body)).toBe(formatted)
  })

  it('has the same value and the same placeholders', () => {
    const leaf = fc.oneof(
      fc.constantFrom('"{{a}}"', '{{json:b=[1, "}"]}}', '{{integer:c=100}}', '1000', '"10{{a}}02"', '"\\u0041"'),
      fc.double({ noNaN: true, noDefaultInfinity: true }).map(value => JSON.stringify(value)),
      fc.string().map(text => JSON.stringify(text.replaceAll('{', '('))),
    )
    const json = fc.letrec<{ value: string }>(tie => ({
      value: fc.oneof(
        { maxDepth: 4 },
        leaf,
        fc.array(tie('value'), { maxLength: 4 }).map(items => `[${items.join(' , ')}]`),
        fc
          .array(tie('value'), { maxLength: 4 })
          .map(items => `{${items.map((item, i) => `"k${i}":${item}`).join(',')}}`),
      ),
    })).value
    fc.assert(
      fc.property(json, body => {
        const formatted = formatJsonBody(body)
        const bare = (text: string) => text.replaceAll(/\s/g, '')
        expect(bare(formatted)).toBe(bare(body))
        expect(formatJsonBody(formatted)).toBe(formatted)
      }),
      { numRuns: runsOf(1_000) },
    )
  })
})

const Found = z.object({ from: z.number(), options: z.array(z.object({ label: z.string(), insert: z.string() })) })
const Module = z.object({
  findCompletions: z.custom<(before: string, context: unknown) => unknown>(value => typeof value === 'function'),
})

describe('the completion of a placeholder', () => {
  const context = {
    parameters: [{ name: 'id', detail: '' }],
    globals: [
      { name: 'id', detail: '', source: 'global' },
      { name: 'api_token', detail: '', source: 'secret' },
    ],
  }
  let find: (before: string) => string[] | undefined
  beforeAll(async () => {
    const path = join(import.meta.dirname, '../../public/js/placeholder-completions.js')
    const { findCompletions } = Module.parse(await import(pathToFileURL(path).href))
    find = before =>
      Found.optional()
        .parse(findCompletions(before, context))
        ?.options.map(({ label }) => label)
  })

  it('offers parameters, globals and all types after the braces', () => {
    expect(find('/{{')?.toSorted()).toEqual(['id', 'api_token', ...PARAMETER_TYPES.map(type => `${type}:`)].toSorted())
  })

  it('offers all serializations after the bar', () => {
    expect(find('?a={{json:a | ')?.toSorted()).toEqual(SERIALIZATIONS.toSorted())
  })

  it.each([
    ['{{i', ['id', 'integer:']],
    ['{{integer:', ['id', 'api_token']],
    ['{{json:x |sp', ['space', 'spread']],
    ['{{a', ['api_token']],
    ['{{a}} b', undefined],
    ['\\{{', undefined],
    ['{{id=', undefined],
    ['{{nothing', undefined],
    ['id', undefined],
  ])('after %s it offers %j', (before, labels) => {
    expect(find(before)).toEqual(labels)
  })
})
