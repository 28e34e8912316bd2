import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { type ExploreParams, explore } from '../../../src/lib/json/explore.ts'
import { parseDocument } from '../../../src/lib/json/parse-document.ts'

const run = (source: string | Uint8Array, params: ExploreParams = {}) => {
  const outcome = explore.apply(parseDocument(source).document, params)
  if (!outcome.ok) return outcome.error
  const { document } = outcome.value
  return document.kind === 'text' ? document.text : document.kind
}

const SHOP = JSON.stringify({
  total: 4,
  big: 1,
  users: [
    { id: 3, name: 'Ann', kind: 'staff', active: true, score: 1.5, left: null, address: { city: 'Delft' } },
    { id: 9, name: 'Bob', kind: 'guest', active: false, score: 2, left: null },
    { id: 4, name: 'Eve', kind: 'guest', active: false, score: -3, left: null, tags: ['x'] },
  ],
  none: [],
  mixed: [1, 'a', null],
}).replace('"big":1', '"big":12345678901234567890')

it('an outline has types, counts, extremes with their records, and how often values occur', () => {
  expect(run(SHOP)).toBe(`$: object
  total: integer: 4
  big: integer: 12345678901234567890
  users: list of 3 items, each object
    id: integer, 3 at [0] "Ann" to 9 at [1] "Bob", all different
    name: text of 3 characters, all different, such as "Ann", "Bob", "Eve"
    kind: text of 5 characters, 2 different: "guest" (2), "staff" (1)
    active: boolean, true in 1 of 3
    score: number, -3 at [2] "Eve" to 2 at [1] "Bob", all different
    left: always null
    address (in 1 of 3): object
      city: text of 5 characters: "Delft"
    tags (in 1 of 3): list of 1 item, each text of 1 character: "x"
  none: empty list
  mixed: list of 3 items, each text of 1 character: "a"; or integer: 1; or null in 1 of 3`)
})

it('a number with thousands of digits is shown by its first ones', () => {
  expect(run(`[${'7'.repeat(5_000)}]`)).toBe(`$: list of 1 item, each integer: ${'7'.repeat(60)}…`)
})

it('a path outlines all values it leads to', () => {
  expect(run(SHOP, { path: 'users[].address' })).toBe('users[].address: object\n  city: text of 5 characters: "Delft"')
  expect(run(SHOP, { path: 'users.id' })).toBe(
    'users.id: 3 places, each integer, 3 at [0] "Ann" to 9 at [1] "Bob", all different',
  )
})

it('a path that matches nothing returns what exists instead', () => {
  expect(run(SHOP, { path: 'user' })).toContain('There are the members total, big, users')
  expect(run(SHOP, { path: 'a[' })).toContain('is not a path')
})

it('depth and samples are as requested', () => {
  expect(run(SHOP, { depth: 1 })).not.toContain('city')
  const nested = JSON.stringify({ a: { b: { c: { d: { e: { f: { g: 'deep' } } } } } } })
  expect(run(nested)).toContain('g: text of 4 characters: "deep"')
  expect(run(nested, { depth: 4 })).not.toContain('deep')
  expect(run(SHOP, { samples: 1 })).toContain('such as "Ann"\n')
  expect(run(SHOP, { samples: 0 })).not.toContain('Ann')
  const names = JSON.stringify(Array.from({ length: 30 }, (_, index) => `name ${index}`))
  expect(run(names, { samples: 20 }).match(/name/g)).toHaveLength(20)
  expect(run(names, { samples: 21 }).match(/name/g)).toHaveLength(20)
  const kinds = JSON.stringify(Array.from({ length: 60 }, (_, index) => `kind ${index % 20}`))
  expect(run(kinds, { samples: 20 })).toContain('20 different: "kind 0" (3), ')
})

it('an object with many similar members is described once for all of them', () => {
  const table = Object.fromEntries(Array.from({ length: 900 }, (_, index) => [`u${index}`, { age: index }]))
  expect(run(JSON.stringify({ table }))).toBe(`$: object
  table: table of 900 keys like u<number>, such as "u0", "u1", "u2"
    *: object
      age: integer (lowest 0 at u0, 1 at u1; highest 899 at u899, 898 at u898), all different`)
})

it('an object whose names are words lists its names', () => {
  const names = Array.from({ length: 50 }, (_, index) => String.fromCharCode(97 + (index % 26)).repeat(1 + index / 26))
  const properties = Object.fromEntries(names.map(name => [name, { type: 'string' }]))
  expect(run(JSON.stringify({ properties }), { samples: 0 })).toContain(
    `table of 50 keys such as "${names.join('", "')}"`,
  )
})

it('the most frequent values of a field are listed first, with their counts', () => {
  const rows = Array.from({ length: 1_000 }, (_, index) => ({
    port: index % 10 === 0 ? 22 : 8_000 + (index % 50),
    day: `2026-01-${String(1 + (index % 28)).padStart(2, '0')}`,
    size: index === 700 ? '1048576' : String(index),
    lists: Array.from({ length: index === 77 ? 9 : 2 }, () => 'x'),
  }))
  const outline = run(JSON.stringify({ rows }))
  expect(outline).toContain(
    'port: integer, 22 at [0] to 8049 at [49], 46 different, most often 22 (100), 8001 (20), 8002 (20)',
  )
  expect(outline).toContain(
    'day: text of dates, "2026-01-01" at [0] to "2026-01-28" at [27], 28 different, most often "',
  )
  expect(outline).toContain('size: text of numbers, 0 at [0] to 1048576 at [700], all different\n')
  expect(outline).toContain('lists: list of 2 to 9 items (most at [77]), each text')
  expect(run(JSON.stringify({ rows }), { path: 'rows[].port', samples: 0 })).toMatch(
    /^rows\[\]\.port: .*, 46 different$/,
  )
})

describe('the extremes of a field', () => {
  const rows = (count: number, rowOf: (index: number) => unknown) =>
    JSON.stringify({ title: 'All rows', rows: Array.from({ length: count }, (_, index) => rowOf(index)) })
  const at = (text: string, path = 'rows[].size') => run(text, { path })

  it('are two values at either end in a short outline, and more records with the outermost one are counted', () => {
    const sizes = rows(40, index => ({ name: `Row ${index}`, size: index < 3 ? 7 : 10 * index }))
    expect(at(sizes)).toBe(
      'rows[].size: 40 places, each integer (lowest 7 at [0] and 2 more; highest 390 at [39] "Row 39", 380 at [38] "Row 38"), 38 different, most often 7 (3), 30 (1), 40 (1)',
    )
    expect(run(sizes, { path: 'rows[].size', samples: 1 })).toContain(
      ', 7 at [0] to 390 at [39] "Row 39", 38 different',
    )
    expect(run(sizes, { path: 'rows[].size', samples: 0 })).toContain(', 7 at [0] to 390 at [39], 38 different')
  })

  it('are one value at either end if few are different, because all are listed', () => {
    const few = rows(40, index => ({ name: `Row ${index}`, size: index % 8 }))
    expect(at(few)).toContain('integer, 0 at [0] to 7 at [7], 8 different: 0 (5), ')
  })

  it('have no names in a long outline', () => {
    const wide = Object.fromEntries(
      Array.from({ length: 50 }, (_, index) => [`field ${index}`, 'some text of a field']),
    )
    const long = rows(3, index => ({ name: `Row ${index}`, size: index, ...wide }))
    expect(run(long)).toContain('size: integer, 0 at [0] to 2 at [2], all different')
  })

  it.each([
    ['its title', { id: 5, title: 'Five' }, '"Five"'],
    ['its name rather than other texts', { login: 'ada', product_name: 'P', 'Full Name': 'Ada', name: 'A' }, '"A"'],
    ['a name of several words', { kind: 'x', 'Airport Name': 'Schiphol' }, '"Schiphol"'],
    ['a name in its metadata', { id: 5, metadata: { uid: 'x', name: 'pod-5' } }, '"pod-5"'],
    ['its key or id if it has no name', { id: 5, key: 'P-5' }, 'key "P-5"'],
    ['its number', { orderId: 5, size: 1 }, 'orderId 5'],
    ['the record around it', { name: 'Five', part: { sizes: 1 } }, '"Five"'],
    ['the beginning of a long name', { name: 'x'.repeat(30) }, `"${'x'.repeat(24)}…"`],
  ])('name the record by %s', (_what, record, name) => {
    const two = JSON.stringify({ rows: [{ ...record, size: 9 }, { size: 1 }] })
    expect(at(two)).toBe(`rows[].size: 2 places, each integer, 1 at [1] to 9 at [0] ${name}, all different`)
  })

  it.each([
    ['a long id', { id: 'ch_1NirD82eZvKYlo2C' }],
    ['an empty name', { name: '' }],
    ['a name that is a list', { name: ['a'] }],
    ['only a similar name', { renamed: 'x', grid: 5 }],
  ])('do not name the record by %s', (_what, record) => {
    const two = JSON.stringify({ rows: [{ ...record, size: 9 }, { size: 1 }] })
    expect(at(two)).toContain('to 9 at [0], all different')
  })

  it('name the innermost record that has a name', () => {
    const orders = [
      { name: 'First', items: [{ sku: 'a', price: 5 }] },
      { name: 'Second', items: [{ price: 3, parts: [1] }, { price: 4 }] },
    ]
    const prices = at(JSON.stringify({ orders }), 'orders[].items[].price')
    expect(prices).toContain('3 at [1][0] "Second" to 5 at [0][0] sku "a"')
    expect(at(JSON.stringify({ orders }), 'orders[].items')).toContain('list of 1 to 2 items (most at [1] "Second")')
  })

  it('do not repeat the place or the value as a name', () => {
    const byName = Object.fromEntries(
      Array.from({ length: 12 }, (_, index) => [`n${index}`, { name: `n${index}`, size: index }]),
    )
    expect(at(JSON.stringify(byName), '*.size')).toContain('highest 11 at n11, 10 at n10)')
    expect(
      at(
        rows(2, index => ({ id: index })),
        'rows[].id',
      ),
    ).toContain('0 at [0] to 1 at [1], all different')
  })

  it('are enough for numbers that hardly repeat', () => {
    const sizes = rows(300, index => ({ size: index < 4 ? 1 : index }))
    expect(at(sizes)).toContain('; highest 299 at [299], 298 at [298]), 297 different')
    expect(at(sizes)).not.toContain('most often')
  })
})

it('codes with leading zeros are not numbers', () => {
  const codes = JSON.stringify(Array.from({ length: 30 }, (_, index) => ({ zip: `0${500 + index}` })))
  expect(run(codes)).toContain('zip: text of 4 characters, all different, such as "0500", "0501", "0502"')
})

it('the place of an extreme can be filtered for', () => {
  const accounts = Object.fromEntries(
    Array.from({ length: 50 }, (_, index) => [`a-${index}`, { seats: [index === 31 ? 900 : index] }]),
  )
  expect(run(JSON.stringify({ accounts }), { path: 'accounts.*.seats[0]' })).toContain(
    'highest 900 at a-31, 49 at a-49)',
  )
  expect(run(JSON.stringify({ accounts }), { path: '**.seats' })).toContain('50 places, each list of 1 item')
})

it('long texts and names do not make an outline long', () => {
  const wide = Object.fromEntries(
    Array.from({ length: 400 }, (_, index) => [`m${index}`, index % 2 ? 'x'.repeat(9_000) : index]),
  )
  expect(run(JSON.stringify(wide)).length).toBeLessThan(10_000)
})

it('a text is described by its lines, headings and elements, binary content by its type', () => {
  expect(run('# One\n\nHello there\n## Two\n')).toContain('headings:\n  # One\n  ## Two')
  expect(run('<!doctype html><h1>One</h1><p>x<p>y')).toContain('elements: p 2, h1 1')
  expect(run(Uint8Array.of(0, 1))).toContain('binary content')
  expect(run('')).toBe('The result is empty.')
})

it('any JSON can be explored', () => {
  fc.assert(
    fc.property(fc.json(), text => {
      expect(run(text)).toEqual(expect.any(String))
    }),
  )
})

it.each(['<h1 ', '<', '# ', '<h1>', '\n', ' '])('a text of only %j is described in linear time', piece => {
  expect(run(`<html>${piece.repeat(500_000)}`)).toContain('html: ')
  expect(run(`x\n${piece.repeat(500_000)}`)).toContain('text: ')
})
