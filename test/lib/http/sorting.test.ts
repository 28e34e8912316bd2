import { describe, expect, it } from 'vitest'
import { createSorting } from '../../../src/lib/http/pages/sorting.ts'
import { sortRows } from '../../../src/lib/kernel/sort-rows.ts'

const { query, textOf, headersOf } = createSorting(
  [{ name: 'name', text: 'Name' }, { text: 'Note' }, { name: 'size', text: 'Size', isLargestFirst: true }],
  'name',
)

describe('sorting a table by its headers', () => {
  it('reads a column and a direction, and sorts by the first column if there is no such column', () => {
    expect(query.parse('size')).toEqual({ column: 'size', isDescending: false })
    expect(query.parse('-size')).toEqual({ column: 'size', isDescending: true })
    for (const odd of ['Note', '--size', '-', ['size', 'name'], undefined, 7]) {
      expect(query.parse(odd)).toEqual({ column: 'name', isDescending: false })
    }
  })

  it('writes what it reads, and nothing for the default', () => {
    for (const text of ['', '-name', 'size', '-size']) expect(textOf(query.parse(text))).toBe(text)
  })

  it('links each header to its column, reverses the sorted one, and keeps the other parameters', () => {
    const place = { path: '/list', query: { q: 'a b' } }
    expect(headersOf(query.parse(''), place)).toMatchObject([
      { text: 'Name', href: '/list?q=a+b&sort=-name', order: 'ascending' },
      { text: 'Note', href: undefined, order: undefined },
      { text: 'Size', href: '/list?q=a+b&sort=-size', order: undefined },
    ])
    expect(headersOf(query.parse('-size'), place)).toMatchObject([
      { href: '/list?q=a+b', order: undefined },
      {},
      { href: '/list?q=a+b&sort=size', order: 'descending' },
    ])
  })

  it('sorts numbers by size and names as people do, and keeps the order of equal rows in both directions', () => {
    const rows = [
      { name: 'call_10', size: 2 },
      { name: 'Call_9', size: 10 },
      { name: 'book', size: 2 },
    ]
    const names = (sorted: typeof rows) => sorted.map(({ name }) => name)
    expect(names(sortRows(rows, ({ name }) => name))).toEqual(['book', 'Call_9', 'call_10'])
    expect(names(sortRows(rows, ({ size }) => size))).toEqual(['call_10', 'book', 'Call_9'])
    expect(names(sortRows(rows, ({ size }) => size, true))).toEqual(['Call_9', 'call_10', 'book'])
  })
})
