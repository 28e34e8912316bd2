import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { importCurl } from '../../../src/imports/curl/import-curl.ts'
import { importHar } from '../../../src/imports/har/import-har.ts'
import { importPostman } from '../../../src/imports/postman/import-postman.ts'
import { isJsonObject, type JsonObject, type JsonValue } from '../../../src/lib/kernel/json.ts'
import { runsOf } from '../../support/cases-of-run.ts'
import { collectionOf } from '../postman-collection.ts'

const RUNS = { numRuns: runsOf(100) }

const COLLECTION = collectionOf(
  [
    {
      id: '1',
      name: 'Folder',
      auth: {
        type: 'apikey',
        apikey: [
          { key: 'key', value: 'X-Key' },
          { key: 'value', value: '{{key}}' },
        ],
      },
      event: [{ script: { exec: ['x'] } }],
      item: [
        {
          name: 'Get',
          request: {
            method: 'GET',
            header: [{ key: 'X-A', value: '1', disabled: true }],
            url: {
              raw: '{{baseUrl}}/a/:id?x=1',
              host: ['{{baseUrl}}'],
              path: ['a', ':id'],
              query: [{ key: 'x', value: '<integer>', description: '(Required) x' }],
              variable: [{ key: 'id', value: '1' }],
            },
          },
        },
        {
          name: 'Post',
          request: {
            method: 'POST',
            url: '{{baseUrl}}/a',
            body: { mode: 'raw', raw: '{"a": {"b": [1]}, "c": "{{d}}"}', options: { raw: { language: 'json' } } },
          },
        },
        {
          name: 'Form',
          request: {
            method: 'POST',
            url: 'a.example',
            body: { mode: 'formdata', formdata: [{ key: 'a', value: 'b' }] },
          },
        },
      ],
    },
  ],
  {
    variable: [
      { key: 'baseUrl', value: 'https://a.example' },
      { key: 'key', value: '{{d}}' },
    ],
  },
)

const HAR = {
  log: {
    entries: [
      {
        request: {
          method: 'POST',
          url: 'https://a.example/x/12?a=1',
          headers: [{ name: 'x', value: '1' }],
          postData: { mimeType: 'application/json', text: '{"a": 1}', params: [{ name: 'a', value: '1' }] },
        },
        response: { status: 200, content: { mimeType: 'application/json' } },
      },
      {
        request: {
          method: 'POST',
          url: 'https://a.example/x/13?a=2',
          headers: [],
          postData: { mimeType: 'multipart/form-data', params: [] },
        },
      },
    ],
  },
}

/** Lists the paths to all parts of a value. */
const pathsOf = (value: JsonValue, path: readonly string[] = []): readonly (readonly string[])[] => [
  path,
  ...(typeof value === 'object' && value !== null
    ? Object.entries(value).flatMap(([key, part]) => pathsOf(part, [...path, key]))
    : []),
]

const replaceAt = (value: JsonValue, [key, ...rest]: readonly string[], by: JsonValue): JsonValue => {
  if (key === undefined) return by
  if (Array.isArray(value))
    return value.map((item, index) => (String(index) === key ? replaceAt(item, rest, by) : item))
  return isJsonObject(value) ? { ...value, [key]: replaceAt(value[key] ?? null, rest, by) } : value
}

/** Texts that mean something to one of the parsers. */
const oddText = fc
  .array(
    fc.constantFrom(
      '{{',
      '}}',
      '{',
      ':',
      '/',
      '?',
      '#',
      '&',
      '=',
      '%',
      '%7',
      '\0',
      '\n',
      '"',
      '\\',
      '<',
      'a',
      'é',
      '\ud800',
      '://',
      '@',
    ),
    {
      maxLength: 12,
    },
  )
  .map(pieces => pieces.join(''))

const mutated = (value: JsonValue) =>
  fc
    .tuple(
      fc.constantFrom(...pathsOf(value)),
      fc.oneof(
        oddText,
        fc.jsonValue({ maxDepth: 3 }).map((one): JsonValue => JSON.parse(JSON.stringify(one))),
      ),
    )
    .map(([path, by]) => replaceAt(value, path, by))

describe('a source with any part replaced', () => {
  it.each([
    ['a Postman collection', COLLECTION, importPostman],
    ['a HAR file', HAR, importHar],
  ])('is read or refused: %s', async (_, source, read) => {
    await fc.assert(
      fc.asyncProperty(mutated(source), async value => {
        const outcome = await read(value)
        expect(outcome.ok ? outcome.value.operations : outcome.error).toBeDefined()
      }),
      RUNS,
    )
  })

  it('is read or refused: cURL commands', async () => {
    const piece = fc.constantFrom(
      'curl ',
      'curl',
      '\n',
      ' ',
      "'",
      '"',
      '\\',
      '^',
      '&',
      ';',
      '|',
      '<<E\n',
      'E\n',
      '-d ',
      '-X ',
      'https://a.example/x',
      '$A',
      '`',
      '{',
      '}',
    )
    await fc.assert(
      fc.asyncProperty(fc.array(piece, { maxLength: 30 }), async pieces => {
        const outcome = await importCurl(pieces.join(''))
        expect(outcome.ok ? outcome.value.operations : outcome.error).toBeDefined()
      }),
      RUNS,
    )
  })
})

describe('any secret', () => {
  const secret = fc
    .string({ unit: 'grapheme-ascii', minLength: 10, maxLength: 30 })
    .filter(text => /^[!-~]+$/.test(text) && !/[{}]/.test(text) && new Set(text).size > 5)

  it('is in no operation, wherever else it occurs in the collection', async () => {
    await fc.assert(
      fc.asyncProperty(secret, async value => {
        const encoded = encodeURIComponent(value)
        const request = (parts: JsonObject): JsonObject => ({ method: 'POST', url: '{{baseUrl}}/x', ...parts })
        const items = [
          { name: `Uses ${value}`, request: request({ auth: { type: 'bearer', bearer: [{ key: 'token', value }] } }) },
          { name: 'path', request: request({ url: `{{baseUrl}}/${encoded}/x?q=${encoded}` }) },
          {
            name: 'body',
            request: request({ body: { mode: 'raw', raw: JSON.stringify({ note: `is ${value}`, other: [value] }) } }),
          },
          {
            name: 'form',
            request: request({ body: { mode: 'urlencoded', urlencoded: [{ key: 'a', value, description: value }] } }),
          },
          {
            name: value,
            description: `See ${value}.`,
            item: [{ name: 'x', request: request({ description: value }) }],
          },
        ]
        const outcome = await importPostman(collectionOf(items))
        const shown = JSON.stringify(outcome.ok ? outcome.value.operations : outcome.error)
        for (const text of [value, JSON.stringify(value).slice(1, -1), encoded]) expect(shown).not.toContain(text)
        expect(outcome.ok && outcome.value.globals).toContainEqual(expect.objectContaining({ isSecret: true, value }))
      }),
      RUNS,
    )
  })
})
