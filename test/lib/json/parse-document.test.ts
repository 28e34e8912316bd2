import fc from 'fast-check'
import { expect, it } from 'vitest'
import { parseDocument } from '../../../src/lib/json/parse-document.ts'
import { renderDocument } from '../../../src/lib/json/render-document.ts'

const parseBytes = (bytes: readonly number[] | string, mediaType?: string) =>
  parseDocument(typeof bytes === 'string' ? Buffer.from(bytes) : Uint8Array.from(bytes), mediaType)

it.each([
  ['an object', '{"a":1}', undefined, 'json'],
  ['an object of a vendor', '{"a":1}', 'application/vnd.api+json; charset=utf-8', 'json'],
  ['a bare number that is declared', '7', 'application/json', 'json'],
  ['a bare number that is not', '7', 'text/plain', 'text'],
  ['an object after blanks and a byte order mark', '\uFEFF\n {"a":1}', undefined, 'json'],
  ['lines of JSON', '{"a":1}\n{"a":2}\n', undefined, 'ndjson'],
  ['one line of declared lines', '{"a":1}\n', 'application/x-ndjson', 'ndjson'],
  ['a declared table', 'name;age\nAnn;3', 'text/csv', 'csv'],
  ['a table that is not declared', 'id,name,age\n1,Ann,3\n2,Bob,4\n', 'text/plain', 'csv'],
  ['a table of two columns', 'day;price\n2026-01-02;7,5\n2026-01-03;8\n', 'text/plain', 'csv'],
  ['prose with a comma in each line', 'Well, I went.\nThen, I came.\nAfter, I left.\n', 'text/plain', 'text'],
  [
    'a log with a comma in each time',
    '12:00:00,123 start\n12:00:01,456 work\n12:00:02,789 end\n',
    'text/plain',
    'text',
  ],
  ['prose with commas', 'Well, I went.\nThen, after, I came.\nAnd so on.\n', 'text/plain', 'text'],
  ['HTML', '<!DOCTYPE html><p>Hello', undefined, 'html'],
  ['XML', '<?xml version="1.0"?><a/>', undefined, 'xml'],
  ['JSON that is called a page', '[{"a":1}]', 'text/html', 'json'],
  ['a page that is called JSON', '<html><p>Sorry', 'application/json', 'html'],
  ['a part of a page that is called one', '<p>Hello', 'text/html', 'html'],
  ['an SVG image', '<svg/>', 'image/svg+xml', 'xml'],
  ['nothing', '', 'application/json', 'text'],
  ['blanks', ' \n\t', undefined, 'text'],
  ['JSON that breaks off', '{"a":[1,2', 'application/json', 'text'],
  ['braces of a template', '{{name}} and {{other}}', undefined, 'text'],
] as const)('%s is recognized', (_what, text, mediaType, format) => {
  const { document } = parseBytes(text, mediaType)
  expect(document.kind === 'binary' ? 'binary' : document.format).toBe(format)
})

it.each([
  ['an image', [0x89, 0x50, 0x4e, 0x47], 'image/png', 'image/png'],
  ['bytes with a zero among them', [1, 0, 2], '', 'application/octet-stream'],
  ['bytes that are hardly UTF-8', Array.from({ length: 100 }, () => 0xff), 'text/plain', 'application/octet-stream'],
] as const)('%s is binary and only described', (_what, bytes, mediaType, told) => {
  const { document } = parseBytes(bytes, mediaType)
  expect(document).toEqual({ kind: 'binary', mediaType: told, bytes: bytes.length })
  expect(renderDocument(document)).toContain(told)
})

it('invalid UTF-8 in a text is replaced with a note', () => {
  const { document, notes } = parseBytes([...Buffer.from('{"a":"x'), 0xff, ...Buffer.from('y"}')])
  expect(document).toEqual({ kind: 'json', value: { a: 'x\uFFFDy' }, format: 'json' })
  expect(notes.join()).toContain('U+FFFD')
})

it('a text is decoded by its declared charset', () => {
  expect(parseBytes([0xe9], 'text/plain; charset=iso-8859-1').document).toMatchObject({ text: 'é' })
  expect(parseBytes([0xe9, 0x21], 'text/plain; charset=no-such').document).toMatchObject({ text: '\uFFFD!' })
  expect(parseBytes([0xff, 0xfe, 0x41, 0x00], 'text/plain').document).toMatchObject({ text: 'A' })
})

it('JSON that is nested too deeply is read as text, with a note', () => {
  const deep = `${'['.repeat(500_000)}${']'.repeat(500_000)}`
  const { document, notes } = parseDocument(deep, 'application/json')
  expect(document.kind).toBe('text')
  expect(notes.join()).toContain('nested more than 200 levels deep')
  expect(parseDocument(`${'['.repeat(200)}${']'.repeat(200)}`).document.kind).toBe('json')
})

it.each([
  '12345678901234567890',
  '-9007199254740993',
  '1e400',
  '0.1234567890123456789',
  '1E-400',
  '100000000000000000000000001',
])('the number %s keeps its digits, alone and among others', digits => {
  for (const text of [`{"a":${digits},"b":[1,${digits}]}`, `[${digits}]`]) {
    const { document, notes } = parseDocument(text)
    expect(renderDocument(document)).toBe(text)
    expect(notes.join()).toContain('digits')
  }
  expect(renderDocument(parseDocument(digits, 'application/json').document)).toBe(digits)
})

it.each(['0.30000000000000004', '1234567890123456', '4.35', '[1e3]', '"12345678901234567890"', '["4e5", 1.50]'])(
  'the number in %s that a double holds is a number',
  text => {
    const { document, notes } = parseDocument(text, 'application/json')
    expect(notes).toEqual([])
    expect(document).toEqual({ kind: 'json', value: JSON.parse(text), format: 'json' })
  },
)

it('any JSON is unchanged after parsing and rendering', () => {
  fc.assert(
    fc.property(fc.json(), text => {
      expect(renderDocument(parseDocument(text, 'application/json').document)).toBe(JSON.stringify(JSON.parse(text)))
    }),
  )
})

it('any text and any bytes are recognized as something', () => {
  fc.assert(
    fc.property(
      fc.uint8Array({ maxLength: 200 }),
      fc.constantFrom('', 'text/csv', 'application/json', ';;'),
      (bytes, type) => {
        expect(renderDocument(parseDocument(bytes, type).document)).toEqual(expect.any(String))
      },
    ),
  )
  fc.assert(
    fc.property(fc.string({ unit: 'binary' }), fc.constantFrom('', 'text/csv', 'application/jsonl'), (text, type) => {
      expect(renderDocument(parseDocument(text, type).document)).toEqual(expect.any(String))
    }),
  )
})

it('the last of duplicate keys counts, with a note', () => {
  const { document, notes } = parseDocument('{"a":1,"a":2,"b":{"c":1,"c":[]}}')
  expect(document).toMatchObject({ value: { a: 2, b: { c: [] } } })
  expect(notes.join()).toContain('more than once in their object: 2.')
  expect(parseDocument('{"a":":","b":"\\":"}').notes).toEqual([])
})

it('a key __proto__ is an ordinary member', () => {
  const { document } = parseDocument('{"__proto__":{"polluted":true}}')
  expect(renderDocument(document)).toBe('{"__proto__":{"polluted":true}}')
})

it('a declared JSON line that is invalid is kept as a string', () => {
  const { document, notes } = parseDocument('{"a":1}\n{"a":\n{"a":3}', 'application/x-ndjson')
  expect(document).toMatchObject({ value: [{ a: 1 }, '{"a":', { a: 3 }] })
  expect(notes.join()).toContain('not JSON, kept as strings: 2.')
})

it('table rows are objects of strings without quoting, and are rendered as a table again', () => {
  const text = 'name,note,id\nAnn,"a, ""b""\nc",12345678901234567890\nBob,,2'
  const { document } = parseDocument(text, 'text/csv')
  expect(document).toMatchObject({
    value: [
      { name: 'Ann', note: 'a, "b"\nc', id: '12345678901234567890' },
      { name: 'Bob', note: '', id: '2' },
    ],
  })
  expect(renderDocument(document)).toBe(text)
})

it('uneven rows, empty column names and duplicate ones lose no cell', () => {
  const { document, notes } = parseDocument('a,a,\n1,2,3,4\n5', 'text/csv')
  expect(document).toMatchObject({
    value: [{ a: '1', 'a (2)': '2', 'column 3': '3', 'column 4': '4' }, { a: '5' }],
  })
  expect(notes.join()).toContain('a different number of cells than the header: 2.')
})

it.each([
  ['objects', 'application/json', `[${'{},'.repeat(2_000_000)}{}]`, 'objects and lists'],
  ['rows', 'text/csv', `a,b,c\n${'1,2,3\n'.repeat(1_000_000)}`, 'too many rows'],
  ['columns', 'text/csv', `a,b,c\n1,2,3\n${','.repeat(5_000_000)}\n`, 'too many columns'],
  ['cells', 'text/csv', `a,b,c\n${'1,2,3\n'.repeat(100_000)}${','.repeat(10_000)}\n`, 'too many columns'],
])('JSON that would take too much memory, with millions of %s, is read as text', (_what, mediaType, text, told) => {
  const { document, notes } = parseDocument(text, mediaType)
  expect(document.kind).toBe('text')
  expect(notes.join()).toContain(told)
})

it.each([
  ['a number of a million digits', `[1${'0'.repeat(1_000_000)}1]`],
  ['a fraction of a million digits', `{"a":0.${'0'.repeat(1_000_000)}1e5}`],
])('%s keeps all of them, in linear time', (_what, text) => {
  expect(renderDocument(parseDocument(text).document)).toBe(text)
})
