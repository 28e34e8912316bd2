import fc from 'fast-check'
import { expect, it } from 'vitest'
import { z } from 'zod'
import { closeJson } from '../../../src/lib/json/close-json.ts'
import { cutToBudget } from '../../../src/lib/json/cut-to-budget.ts'
import { keyPattern } from '../../../src/lib/json/keyed-object.ts'
import { parseDocument } from '../../../src/lib/json/parse-document.ts'
import { isJsonObject, type JsonValue } from '../../../src/lib/kernel/json.ts'
import { countTokens } from '../../../src/lib/tokens/tokens.ts'

const recordOf = (id: number) => ({
  id,
  title: `Item number ${id}`,
  tags: ['a', 'b"c', 'déjà'],
  note: 'Lorem ipsum dolor sit amet.',
})
const RECORDS = Array.from({ length: 5_000 }, (_, index) => recordOf(index))

const begin = async (text: string, budget: number, mediaType?: string) => {
  const { document } = parseDocument(text, mediaType)
  return { ...(await cutToBudget(document, budget)), document }
}

const countShown = ({ text, outline }: { text: string; outline: string }) =>
  countTokens(outline === '' ? text : `${text}\n${outline}`)

/** Returns whether a value is a part of another: first items, some members, beginnings of texts. */
const isPartOf = (part: JsonValue, whole: JsonValue): boolean => {
  if (Array.isArray(part)) {
    return Array.isArray(whole) && part.every((item, index) => isPartOf(item, whole[index] ?? null))
  }
  if (isJsonObject(part)) {
    return isJsonObject(whole) && Object.entries(part).every(([name, member]) => isPartOf(member, whole[name] ?? null))
  }
  if (typeof part === 'string' && typeof whole === 'string' && part !== whole) {
    return part.endsWith('…') && whole.startsWith(part.slice(0, -1))
  }
  return part === whole
}

it('a value within its budget is shown completely', async () => {
  expect(await begin('{"a": [1, 2]}', 100)).toMatchObject({ text: '{"a":[1,2]}', outline: '', isCut: false })
})

it('a list over its budget shows its first complete items, and an outline of their number and members', async () => {
  const { text, outline, isCut } = await begin(JSON.stringify(RECORDS), 500)
  const shown: unknown = JSON.parse(text)
  expect(isCut).toBe(true)
  expect(shown).toEqual(RECORDS.slice(0, Array.isArray(shown) ? shown.length : 0))
  expect(shown).not.toEqual([])
  expect(outline).toContain(`of 5,000 items shown; each has id, title, tags, note`)
})

it('an object over its budget shows all small members, and large ones share the rest', async () => {
  const whole = { total: 5_000, next: null, items: RECORDS, text: 'A sentence. '.repeat(5_000), last: 'here' }
  const { text, outline } = await begin(JSON.stringify(whole), 600)
  const shown = JSON.parse(text)
  expect(shown).toMatchObject({ total: 5_000, next: null, last: 'here' })
  expect(shown.items.length).toBeGreaterThan(0)
  expect(shown.text).toMatch(/^(?:A sentence\. ?)+…$/)
  expect(outline).toMatch(/^items: \d+ of 5,000 items shown/m)
  expect(outline).toMatch(/^text: [\d,]+ of 60,000 characters shown$/m)
})

it('a long item of a list is cut after small ones', async () => {
  const { text } = await begin(JSON.stringify(['ok', 200, null, RECORDS]), 400)
  expect(JSON.parse(text)).toEqual(['ok', 200, null, expect.arrayContaining([RECORDS[0]])])
})

it('a number longer than the budget is omitted, and its neighbours are shown', async () => {
  const digits = '7'.repeat(100_000)
  const inObject = await begin(`{"few":[1,2],"n":${digits},"rows":${JSON.stringify(RECORDS)}}`, 400)
  expect(JSON.parse(inObject.text)).toMatchObject({ few: [1, 2], rows: expect.arrayContaining([RECORDS[0]]) })
  expect(inObject.outline).toContain('2 of 3 members shown')
  const inList = await begin(`[{"a":1},${digits}]`, 400)
  expect(inList.text).toBe('[{"a":1}]')
})

it('an object with more members than fit shows the first ones and names others', async () => {
  const table = Object.fromEntries(RECORDS.map(({ id }) => [`key${id}`, id]))
  const { text, outline } = await begin(JSON.stringify({ table }), 300)
  expect(Object.keys(JSON.parse(text).table).length).toBeGreaterThan(10)
  expect(outline).toMatch(/table: \d+ of 5,000 members shown/)
})

it('an object whose names are data shows two members whole, the pattern of its names, and the count once', async () => {
  const users = Object.fromEntries(RECORDS.slice(0, 1_000).map(record => [`user_${record.id}`, record]))
  const { document } = parseDocument(JSON.stringify({ total: 1_000, users }))
  const { text, outline } = await cutToBudget(document, 2_000, 2)
  expect(JSON.parse(text)).toEqual({ total: 1_000, users: { user_0: RECORDS[0], user_1: RECORDS[1] } })
  expect(outline.split('\n').slice(1)).toEqual([
    'users: 2 of 1,000 members shown; names are user_<number>; each has id, title, tags, note',
  ])
})

it('an object whose names are data and whose members are large is described once for all of them', async () => {
  const large = Object.fromEntries(
    ['2026-01-02', '2026-01-03', ...Array.from({ length: 50 }, (_, day) => `2027-01-${day + 10}`)].map(day => [
      day,
      { rows: RECORDS.slice(0, 200), summary: 'A sentence. '.repeat(900) },
    ]),
  )
  const { document } = parseDocument(JSON.stringify(large))
  const { text, outline } = await cutToBudget(document, 500, 2)
  expect(Object.keys(JSON.parse(text))).toEqual(['2026-01-02'])
  expect(outline).toContain('the whole result: 1 of 52 members shown; names are <date>; each has rows, summary')
  expect(outline).toMatch(/^\*\.rows: \d+ of 200 items shown/m)
  expect(outline).not.toContain('2026')
})

it('objects whose names are data are described by patterns also inside each other, each once', async () => {
  const teams = Object.fromEntries(
    Array.from({ length: 50 }, (_, team) => [
      `team-${team}`,
      Object.fromEntries(RECORDS.slice(0, 40).map(record => [`user_${record.id}`, record])),
    ]),
  )
  const { document } = parseDocument(JSON.stringify(teams))
  const { outline } = await cutToBudget(document, 600, 2)
  expect(outline.split('\n').slice(1)).toEqual([
    'the whole result: 1 of 50 members shown; names are team-<number>; each has names like user_<number>',
    '*: 2 of 40 members shown; each has id, title, tags, note',
  ])
})

it('the members of long items are listed once', async () => {
  const items = RECORDS.slice(0, 50).map(record => ({ ...record, note: 'A sentence. '.repeat(900) }))
  const { outline } = await begin(JSON.stringify({ items }), 300)
  expect(outline.match(/title/g)).toHaveLength(1)
})

it('very long names of an object are described by their beginning, in linear time', () => {
  const names = Array.from({ length: 200 }, (_, index) => `${'ab'[index % 2]}${String.fromCharCode(0x4e00 + index)}`)
  const tail = 'x'.repeat(100_000)
  expect(keyPattern(names.map(name => `${name}${tail}`))).toBeUndefined()
  expect(keyPattern(names.map(name => `${'y'.repeat(50)}${name}${tail}`))).toBe(`${'y'.repeat(40)}…`)
  expect(keyPattern([`${tail}a${tail}`, `${tail}b${tail}`])).toBe(`${'x'.repeat(40)}…`)
  expect(keyPattern(names.map(name => `group_${name}`))).toBe('group_…')
})

it('JSON that was not parsed is cut to valid JSON, with an outline', async () => {
  const text = JSON.stringify(RECORDS)
  const shown = await cutToBudget({ kind: 'text', text, format: 'text' }, 400)
  const items = z.array(z.unknown()).parse(JSON.parse(shown.text))
  expect(items.slice(0, 5)).toEqual(RECORDS.slice(0, 5))
  expect(shown.outline).toMatch(
    /^the whole result: \d+ items shown, of a result of [\d,]+ characters; each has id, title, tags, note$/m,
  )
  expect(shown.tokensShown).toBeLessThanOrEqual(400)
})

it.each([['[2026-05-04] INFO started\n'], ['[1] one\n'], ['{"a":1}\n']])(
  'a text that only begins like JSON is cut as text: %j',
  async line => {
    const text = line.repeat(5_000)
    const shown = await cutToBudget({ kind: 'text', text, format: 'text' }, 200)
    expect(text.startsWith(shown.text)).toBe(true)
    expect(shown.text.length).toBeGreaterThan(100)
  },
)

it('the beginning of any JSON is closed to valid JSON that is a part of it', () => {
  fc.assert(
    fc.property(fc.jsonValue({ maxDepth: 6 }), fc.double({ min: 0, max: 1, noNaN: true }), (value, share) => {
      const text = JSON.stringify(value)
      const whole: JsonValue = JSON.parse(text)
      const closed = closeJson(text.slice(0, Math.floor(text.length * share)))
      if (closed !== undefined) expect(isPartOf(JSON.parse(closed.text), whole)).toBe(true)
    }),
  )
  expect(closeJson('{"a":{"b":[1,2,{"c":"long text')?.text).toBe('{"a":{"b":[1,2]}}')
  expect(closeJson('{"a":"a long text that does not en')?.text).toBe('{"a":"a long text that does not en…"}')
})

/** Texts of characters that JSON escapes, or that take two code units. */
const ESCAPED = fc.string({ unit: fc.constantFrom('\\', '"', '\n', '\u0001', 'u', '1', '😀'), minLength: 20 })

it.each([
  ['an object', (log: string) => ({ log })],
  ['a list', (log: string) => [log]],
])('a long string in %s is cut wherever it breaks off, also within an escape', (_what, wrap) => {
  fc.assert(
    fc.property(ESCAPED, fc.boolean(), (log, isAscii) => {
      const whole: JsonValue = wrap(log)
      const json = JSON.stringify(whole)
      const text = isAscii ? json.replace(/[\ud800-\udfff]/g, unit => `\\u${unit.charCodeAt(0).toString(16)}`) : json
      for (let end = 2 * '{"log":"'.length; end < text.length - 2; end++) {
        const { value = null, text: closed = '' } = closeJson(text.slice(0, end)) ?? {}
        expect(isPartOf(value, whole) && value !== null).toBe(true)
        expect(closed.isWellFormed()).toBe(true)
        expect(closed.length).toBeGreaterThan(end - 6)
      }
    }),
  )
})

it.each([
  [
    'lines of JSON',
    RECORDS.map(record => JSON.stringify(record)).join('\n'),
    'application/x-ndjson',
    /^\{"id":0,.*\}$/m,
  ],
  ['a table', `id,name,age\n${'1,Ann,30\n'.repeat(9_000)}`, 'text/csv', /^id,name,age\n1,Ann,30\n/],
  ['a text', 'Some sentence. Another one.\n'.repeat(9_000), 'text/plain', /Another one\.$/],
  ['HTML', `<!doctype html><ul>${'<li>One <b>two</b></li>'.repeat(9_000)}`, 'text/html', /<\/li>$/],
])('%s over its budget is cut at the end of a line or element', async (_what, whole, mediaType, expected) => {
  const { text, tokensShown, isCut } = await begin(whole, 200, mediaType)
  expect(isCut).toBe(true)
  expect(whole.startsWith(text)).toBe(true)
  expect(text).toMatch(expected)
  expect(tokensShown).toBeGreaterThan(100)
})

it('a text without line breaks is cut between characters', async () => {
  const { text, outline } = await begin('x'.repeat(1_000_000), 100)
  expect(text.length).toBeGreaterThan(100)
  expect(outline).toContain('of 1,000,000 characters shown')
})

it.each([1, 2, 10, 50, 1_000])(
  'a beginning of %i tokens is within them by real count, and most of it is used',
  async budget => {
    for (const whole of [
      RECORDS,
      { a: { b: RECORDS, c: 'word '.repeat(9_000) } },
      'word '.repeat(9_000),
      [[RECORDS]],
    ]) {
      const shown = await begin(JSON.stringify(whole), budget, 'application/json')
      const counted = await countShown(shown)
      expect(counted).toBe(shown.tokensShown)
      expect(counted).toBeLessThanOrEqual(budget)
      if (budget === 1_000) expect(counted).toBeGreaterThan(700)
      JSON.parse(shown.text)
    }
  },
)

it('any JSON is cut to valid JSON that is a part of it and within the budget', async () => {
  await fc.assert(
    fc.asyncProperty(fc.jsonValue({ maxDepth: 6 }), fc.integer({ min: 1, max: 60 }), async (whole, budget) => {
      const shown = await begin(JSON.stringify(whole), budget, 'application/json')
      if (shown.document.kind !== 'json') return
      expect(await countShown(shown)).toBeLessThanOrEqual(budget)
      const isEmpty = ['{}', '[]'].includes(shown.text)
      expect(isEmpty || isPartOf(JSON.parse(shown.text), shown.document.value)).toBe(true)
      expect(shown.isCut).toBe(shown.text !== JSON.stringify(whole))
    }),
  )
})

it('any text is cut to a beginning within the budget', async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.string({ unit: 'grapheme', maxLength: 400 }),
      fc.integer({ min: 1, max: 60 }),
      async (text, budget) => {
        const shown = await cutToBudget({ kind: 'text', text, format: 'text' }, budget)
        expect(await countShown(shown)).toBeLessThanOrEqual(budget)
        expect(text.startsWith(shown.text)).toBe(true)
        expect(shown.text.isWellFormed()).toBe(true)
      },
    ),
  )
})
