import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { excludePaths } from '../../../src/lib/json/project.ts'
import { isJsonObject, type JsonValue } from '../../../src/lib/kernel/json.ts'
import { compactTables } from '../../../src/results/shape/compact-table.ts'
import { cutString, runShapingJob } from '../../../src/results/shape/shape-text.ts'
import type { ShapingJob } from '../../../src/results/shape/shaping-job.ts'
import { findExpressionFault } from '../../../src/tools/response/expression-faults.ts'
import { parseFieldPath } from '../../../src/tools/response/field-path.ts'

const pathOf = (text: string) => {
  const path = parseFieldPath(text)
  if (!path.ok) throw new Error(`${text}: ${path.error.message}`)
  return path.value
}
const drop = (value: JsonValue, ...paths: string[]) => excludePaths(value, paths.map(pathOf), true)

const JOB: ShapingJob = {
  texts: [],
  isHtml: false,
  shaping: {},
  compactTables: false,
  isStructured: false,
  maxBytes: 10_000_000,
  isCounted: false,
}
const shape = async (text: string, job: Partial<ShapingJob>): Promise<string> => {
  const outcome = await runShapingJob({ ...JOB, texts: [text], ...job })
  if (outcome.kind === 'failed') return `failed: ${outcome.message}`
  return outcome.kind === 'unchanged' ? text : outcome.utf8s.map(utf8 => new TextDecoder().decode(utf8)).join('')
}

describe('field paths', () => {
  it.each([
    [
      'users[].name',
      { users: [{ name: 'a', id: 1 }, { id: 2 }], name: 'b' },
      { users: [{ id: 1 }, { id: 2 }], name: 'b' },
    ],
    ['users.name', { users: [{ name: 'a', id: 1 }] }, { users: [{ id: 1 }] }],
    ['users.[].name', { users: [{ name: 'a', id: 1 }] }, { users: [{ id: 1 }] }],
    ['users[*].name', { users: [{ name: 'a', id: 1 }] }, { users: [{ id: 1 }] }],
    ['*.html', { a: { html: 1, text: 2 }, b: { html: 3 }, html: 4 }, { a: { text: 2 }, b: {}, html: 4 }],
    ['**.id', { id: 1, a: [{ id: 2, b: { id: 3, c: 4 } }] }, { a: [{ b: { c: 4 } }] }],
    ['a.**.id', { id: 1, a: { id: 2, b: [[{ id: 3 }]] } }, { id: 1, a: { b: [[{}]] } }],
    ['meta["odd.name \\"x\\""]', { meta: { 'odd.name "x"': 1, odd: 2 } }, { meta: { odd: 2 } }],
    ['["a b"].c', { 'a b': { c: 1, d: 2 } }, { 'a b': { d: 2 } }],
    ['items[]', { items: [1, 2], more: 3 }, { items: [], more: 3 }],
    ['[].id', [{ id: 1, a: 2 }], [{ a: 2 }]],
    ['list[0].id', { list: [{ id: 1 }, { id: 2 }] }, { list: [{}, { id: 2 }] }],
    ['list.0', { list: [{ 0: 'a', b: 1 }] }, { list: [{ b: 1 }] }],
    ['$', { $: 1, a: 2 }, { a: 2 }],
    ['$.a', { $: { a: 1, b: 2 }, a: 3 }, { $: { b: 2 }, a: 3 }],
    ['map[*].id', { map: { a: { id: 1 } } }, { map: { a: { id: 1 } } }],
    ['["[*]"]', { '[*]': 1, a: 2 }, { a: 2 }],
    ['**.a.**.b', { a: { b: 1, a: [{ b: 2, c: { b: 3, d: 4 } }] }, b: 5 }, { a: { a: [{ c: { d: 4 } }] }, b: 5 }],
    ['nothing.there', { a: 1 }, { a: 1 }],
    ['__proto__', JSON.parse('{"__proto__": {"a": 1}, "b": 2}'), { b: 2 }],
    ['a', 'a text', 'a text'],
  ])('%s', (path, value, left) => {
    expect(drop(value, path)).toEqual(left)
  })

  it.each([
    ['', 1],
    ['.', 1],
    ['a..b', 3],
    ['a.', 3],
    ['a[', 2],
    ['a["b]', 2],
    ['a.**', 4],
    ['$.a]', 4],
  ])('reject %j with the column of the error', (path, column) => {
    expect(parseFieldPath(path)).toMatchObject({ ok: false, error: { column } })
  })

  it('drop exactly the matching fields of any document', () => {
    fc.assert(
      fc.property(fc.jsonValue(), fc.string(), (json, name) => {
        const value: JsonValue = JSON.parse(JSON.stringify(json))
        const path = `**[${JSON.stringify(name)}]`
        const expected = JSON.stringify(value, (_key, member: unknown) => {
          if (typeof member !== 'object' || member === null || Array.isArray(member)) return member
          return Object.fromEntries(Object.entries(member).filter(([key]) => key !== name))
        })
        expect(JSON.stringify(drop(value, path))).toBe(expected)
      }),
    )
  })
})

/** Converts a table back to a list. */
const expand = (value: JsonValue): JsonValue => {
  if (Array.isArray(value)) return value.map(expand)
  if (!isJsonObject(value)) return value
  const { columns, rows } = value
  if (Object.keys(value).length === 2 && Array.isArray(columns) && Array.isArray(rows)) {
    return rows.map(row =>
      Object.fromEntries(
        columns.map((column, at) => [String(column), expand(Array.isArray(row) ? (row[at] ?? null) : null)]),
      ),
    )
  }
  return Object.fromEntries(Object.entries(value).map(([key, member]) => [key, expand(member)]))
}

describe('compact tables', () => {
  const like = (keys: string[]) =>
    fc.array(fc.record(Object.fromEntries(keys.map(key => [key, fc.jsonValue({ maxDepth: 1 })]))), { maxLength: 12 })
  const lists = fc.uniqueArray(fc.string(), { minLength: 1, maxLength: 4 }).chain(like)

  it('lose nothing and are shorter', () => {
    let tables = 0
    fc.assert(
      fc.property(fc.record({ list: lists, nested: fc.array(fc.record({ inner: lists, id: fc.nat() })) }), json => {
        const value: JsonValue = JSON.parse(JSON.stringify(json))
        const compact = compactTables(value)
        if (compact === undefined) return
        tables++
        expect(expand(compact)).toEqual(value)
        expect(JSON.stringify(compact).length).toBeLessThan(JSON.stringify(value).length)
      }),
    )
    expect(tables).toBeGreaterThan(0)
  })

  const rows = (count: number, row: (index: number) => JsonValue) =>
    Array.from({ length: count }, (_, index) => row(index))
  it.each([
    ['few items', rows(4, id => ({ id, name: 'a long name of a member' }))],
    ['items that differ in one member', [...rows(9, id => ({ id, long_name: 1 })), { id: 1, other_name: 2 }]],
    ['an item that lacks one', [...rows(9, id => ({ id, long_name: 1 })), { id: 1 }]],
    ['lists of numbers', rows(9, id => id)],
    ['empty objects', rows(9, () => ({}))],
    ['names so short that nothing is won', rows(5, a => ({ a }))],
    ['what looks like a table already', { columns: ['a'], rows: [], list: 1, inner: { columns: [], rows: [] } }],
  ])('leave %s unchanged', (_what, value) => {
    expect(compactTables(value)).toBeUndefined()
  })

  it('keep all digits of large numbers', async () => {
    const list = `[${Array.from({ length: 6 }, () => '{"identifier":12345678901234567890,"name":"x"}').join(',')}]`
    const table = await shape(list, { compactTables: true })
    expect(table).toMatch(/^\{"columns":\["identifier","name"\],"rows":\[\[12345678901234567890,"x"\],/)
  })
})

describe('long strings', () => {
  it('are cut between characters with a note, and never get longer', () => {
    expect(cutString(`${'a'.repeat(100)}`, 20)).toBe(`${'a'.repeat(20)}… (80 more characters)`)
    expect(cutString('a'.repeat(40), 20)).toBe('a'.repeat(40))
    fc.assert(
      fc.property(fc.string({ unit: 'binary', maxLength: 200 }), fc.integer({ min: 20, max: 100 }), (text, most) => {
        const cut = cutString(text, most)
        expect(cut.length).toBeLessThanOrEqual(text.length)
        expect(cut.isWellFormed()).toBe(text.isWellFormed())
      }),
    )
  })

  it('are not cut in member names', async () => {
    const long = 'n'.repeat(300)
    expect(JSON.parse(await shape(JSON.stringify({ [long]: long }), { shaping: { maxStringLength: 50 } }))).toEqual({
      [long]: `${'n'.repeat(50)}… (250 more characters)`,
    })
  })
})

it('fails for a stored path that can no longer be read, instead of sending the field', async () => {
  expect(await shape('{"a":{"b":"private"}}', { shaping: { dropFields: ['a..b'] } })).toBe(
    'failed: The field to drop "a..b" is not a path: column 3: write a path like items[].name, items[0], *.links, **.id or meta["odd.name"].',
  )
})

describe('HTML', () => {
  it.each([
    ['<table><tr><th>a</th><th>b</th></tr><tr><td>1</td><td>2</td></tr></table>', '| a | b |\n| - | - |\n| 1 | 2 |'],
    ['<ul><li>one</li><li><a href="https://a.example">two</a></li></ul>', '- one\n- [two](https://a.example)'],
    ['<script>evil()</script><style>a{}</style><p>seen</p>', 'seen'],
    ['<p>open <b>never closed', 'open never closed'],
    ['', ''],
  ])('%s', async (html, markdown) => {
    expect(await shape(html, { isHtml: true, shaping: { htmlToMarkdown: true } })).toBe(markdown)
  })

  it('in JSON strings is converted, and other strings are not', async () => {
    const value = { a: '1 < 2 and 3 > 2', b: '<p>x</p>', c: ['<br>y'], '<b>d</b>': 1 }
    expect(JSON.parse(await shape(JSON.stringify(value), { shaping: { htmlToMarkdown: true } }))).toEqual({
      a: '1 < 2 and 3 > 2',
      b: 'x',
      c: ['y'],
      '<b>d</b>': 1,
    })
  })
})

describe('lines of JSON and tables', () => {
  const long = 'x'.repeat(100)
  const cut = `${'x'.repeat(20)}… (80 more characters)`
  const tsv = 'text/tab-separated-values'
  it.each([
    ['fields of lines', '{"a":1,"b":{"c":2}}\n{"b":{"d":3}}', { dropFields: ['a', 'b.c'] }, '{"b":{}}\n{"b":{"d":3}}'],
    ['items of the list of lines', '{"a":1,"b":2}\n{"b":3}', { dropFields: ['[].b'] }, '{"a":1}\n{}'],
    [
      'exact numbers of lines',
      `{"id":${'9'.repeat(25)}}\n{"a":1}`,
      { dropFields: ['a'] },
      `{"id":${'9'.repeat(25)}}\n{}`,
    ],
    ['each string of lines', `{"a":"${long}"}\n{"a":"y"}`, { maxStringLength: 20 }, `{"a":"${cut}"}\n{"a":"y"}`],
    ['HTML in lines', '{"a":"<b>x</b>"}\n{"a":"y"}', { htmlToMarkdown: true }, '{"a":"**x**"}\n{"a":"y"}'],
    ['columns', 'id,name,note\n1,Ann,"a, b"\n2,Bob,c', { dropFields: ['name'] }, 'id,note\n1,"a, b"\n2,c'],
    ['a column that is not there', 'id;name;n\r\n1;"Ann";2\r\n2;Bob;3', { dropFields: ['no'] }, undefined],
    ['prose with commas', 'One, two.\nThree, four.\nFive, six.', { dropFields: ['One'] }, undefined],
  ])('%s', async (_what, text, shaping, made = text) => {
    expect(await shape(text, { shaping })).toBe(made)
  })

  it('are recognized by their media type even if they look different', async () => {
    const shaping = { dropFields: ['name'] }
    expect(await shape('id\tname\n1\tAnn', { shaping, type: tsv })).toBe('id\n1')
    expect(await shape('id\tname\n1\tAnn', { shaping })).toBe('id\tname\n1\tAnn')
  })
})

describe('unusual results', () => {
  const jsonata = { shaping: { transform: { language: 'jsonata', expression: 'a' } } } as const
  it.each([
    ['no JSON', '{"a": ', jsonata, /^failed: The transform of this tool \(JSONata\) needs JSON/],
    ['lines of JSON', '{"a":1}\n{"a":2}', jsonata, /^failed: .* needs JSON/],
    ['a key that stands twice', '{"a":1,"a":2}', jsonata, /^2$/],
    ['a member named as the prototype', '{"__proto__":{"a":1}}', jsonata, /^null$/],
    ['a number beyond all', '{"a":1e400}', jsonata, /^1e400$/],
    [
      'deep nesting',
      `${'['.repeat(100_000)}${']'.repeat(100_000)}`,
      { shaping: { maxStringLength: 20 } },
      /nested too deeply/,
    ],
    [
      'a text that is not JSON, to be cut',
      'x'.repeat(100),
      { shaping: { maxStringLength: 20 } },
      /^x{20}… \(80 more characters\)$/,
    ],
    ['a text that is not JSON, without fields', 'plain', { shaping: { dropFields: ['a'] } }, /^plain$/],
  ])('%s', async (_what, text, job, said) => {
    expect(await shape(text, job)).toMatch(said)
  })
})

describe('expressions', () => {
  it.each([
    ['jsonata', 'a.b[c = 1]', undefined],
    ['jsonata', 'a ++ b', { line: 1, column: 4 }],
    ['jsonata', 'a.\nb ]', { line: 2, column: 3 }],
    ['jsonata', 'a[', { line: 1, column: 3 }],
    ['jsonata', '('.repeat(9_000), { line: 1 }],
    ['jmespath', 'a[?b==`1`].c | [0]', undefined],
    ['jmespath', 'a.b ]', { line: 1, column: 5 }],
    ['jmespath', 'a\n.b.#', { line: 2, column: 4 }],
    ['jmespath', 'a[0', { line: 1, column: 4, message: 'it is incomplete' }],
    ['jmespath', '('.repeat(9_000), { line: 1 }],
  ] as const)('%s: %s', (language, expression, fault) => {
    const found = findExpressionFault(language, expression)
    if (fault === undefined) expect(found).toBeUndefined()
    else expect(found).toMatchObject({ ...fault, message: expect.any(String) })
  })

  it('any text is parsed, or rejected with a position', () => {
    fc.assert(
      fc.property(fc.constantFrom('jsonata' as const, 'jmespath' as const), fc.string(), (language, expression) => {
        const fault = findExpressionFault(language, expression)
        if (fault === undefined) return
        const lines = expression.split('\n')
        expect(fault.line).toBeLessThanOrEqual(lines.length)
        expect(fault.column).toBeLessThanOrEqual((lines[fault.line - 1]?.length ?? 0) + 1)
        expect(fault.message).not.toBe('')
      }),
    )
  })
})
