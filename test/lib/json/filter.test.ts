import { describe, expect, it } from 'vitest'
import { type FilterParams, filter } from '../../../src/lib/json/filter.ts'
import { parseDocument } from '../../../src/lib/json/parse-document.ts'
import { renderDocument } from '../../../src/lib/json/render-document.ts'

const SHOP = JSON.stringify({
  meta: { total: 3, next: null },
  users: [
    { id: 1, name: 'Ann', tags: ['a', 'b'], address: { city: 'Delft' } },
    { id: 2, name: 'Bob', tags: [] },
    { id: 3, tags: ['c'] },
  ],
})

const run = (text: string, params: FilterParams, mediaType?: string) => {
  const outcome = filter.apply(parseDocument(Buffer.from(text), mediaType).document, params)
  if (!outcome.ok) return { error: outcome.error }
  return { text: renderDocument(outcome.value.document), notes: outcome.value.notes.join(' ') }
}

it.each([
  [['users[].name'], '{"users":[{"name":"Ann"},{"name":"Bob"}]}'],
  [['users.name'], '{"users":[{"name":"Ann"},{"name":"Bob"}]}'],
  [['users.0.name'], '{"users":[{"name":"Ann"}]}'],
  [['$.users[-1]'], '{"users":[{"id":3,"tags":["c"]}]}'],
  [['users[*].tags[0]', '.meta.*'], '{"users":[{"tags":["a"]},{"tags":["c"]}],"meta":{"total":3,"next":null}}'],
  [['["meta"][\'total\']'], '{"meta":{"total":3}}'],
  [['$'], SHOP],
])('the fields %j are kept in place', (fields, expected) => {
  expect(run(SHOP, { fields })).toEqual({ text: expected, notes: '' })
})

it('fields are removed in mode exclude', () => {
  expect(run(SHOP, { mode: 'exclude', fields: ['users[].tags', 'users[0]', 'meta'] })).toEqual({
    text: '{"users":[{"id":2,"name":"Bob"},{"id":3}]}',
    notes: '',
  })
})

it('a number with many digits keeps all of them', () => {
  expect(run('{"a":{"id":12345678901234567890},"b":1}', { fields: ['a.id'] })).toMatchObject({
    text: '{"a":{"id":12345678901234567890}}',
  })
  expect(run('{"a":{"id":12345678901234567890},"b":1}', { mode: 'exclude', fields: ['b'] })).toMatchObject({
    text: '{"a":{"id":12345678901234567890}}',
  })
})

it.each([
  ['users[].nme', 'users[].nme matches nothing. At users[] there are the members id, name, tags, address.'],
  ['city', 'city matches nothing. There are the members meta, users. There is also users[].address.city.'],
  ['users.0.name.first', 'users[0].name'],
  ['meta[]', 'At meta there are the members total, next'],
  ['users[9]', 'At users there are'],
])('the path %s, which matches nothing, returns what exists instead', (path, told) => {
  const { text, notes } = run(SHOP, { fields: [path] })
  expect(text).toBe('{}')
  expect(notes).toContain(told.startsWith('users[0]') ? 'no members: it is a text' : told)
})

it('a field of a list that was sent as a table is found by its column', () => {
  const table = JSON.stringify({
    users: {
      columns: ['id', 'home'],
      rows: [
        [1, { city: 'Delft' }],
        [2, { city: 'Bonn' }],
      ],
    },
  })
  const { notes = '' } = run(table, { fields: ['users[].home.city'] })
  const [, column = ''] = /It is a table, where home is the column (.+)\.$/.exec(notes) ?? []
  expect(column).toBe('users.rows[][1].city')
  expect(run(table, { fields: [column] }).text).toBe('{"users":{"rows":[[{"city":"Delft"}],[{"city":"Bonn"}]]}}')
  expect(run(table, { fields: ['users[].age'] }).notes).not.toContain('It is a table')
})

it('a path that matches is returned even if others do not match', () => {
  expect(run(SHOP, { fields: ['meta.total', 'meta.totl'] })).toEqual({
    text: '{"meta":{"total":3}}',
    notes: 'meta.totl matches nothing. At meta there are the members total, next.',
  })
})

it('many paths without a match get one short note', () => {
  const wide = JSON.stringify(
    Object.fromEntries(Array.from({ length: 5_000 }, (_, index) => [`member${index}`, index])),
  )
  const fields = Array.from({ length: 100 }, (_, index) => `nothing${index}`)
  expect(run(wide, { fields }).notes?.length).toBeLessThan(4_000)
})

it.each(['a..b', 'users[', 'user*', 'a**b', '[x'])(
  'the path %s is rejected with an explanation of the syntax',
  path => {
    expect(run(SHOP, { fields: [path] }).error).toContain('items[].name, items[0], *.links, **.id')
  },
)

it('a wildcard for a part of a name is explained', () => {
  const hint = 'a * stands for a whole name'
  for (const path of ['users[].*_id', 'na*', 'users.n*me.x'])
    expect(run(SHOP, { fields: [path] }).error).toContain(hint)
  for (const path of ['*..b', 'users[*', 'a.*.']) expect(run(SHOP, { fields: [path] }).error).not.toContain(hint)
})

it.each(['users.**', 'a.'.repeat(600)])('refuses the path %s, and says why', path => {
  expect(run(SHOP, { fields: [path] }).error).toMatch(/a name must follow \*\*|at most 1000 characters/)
})

it('** finds a name at any depth', () => {
  expect(run(SHOP, { fields: ['**.city'] }).text).toBe(run(SHOP, { fields: ['users[].address.city'] }).text)
  expect(run(SHOP, { fields: ['**.nowhere'] }).notes).toContain('**.nowhere matches nothing.')
})

it.each([
  [{ limit: 1 }, '"users":[{"id":1,', 'items of users 1 to 1 of 3. Continue with offset 1.'],
  [{ limit: 2, offset: 2 }, '"users":[{"id":3,', 'items of users 3 to 3 of 3.'],
  [{ offset: 7 }, '"users":[]', 'only 3 items of users'],
  [{ limit: 1, offset: 1, fields: ['users[].name'] }, '{"users":[{"name":"Bob"}]}', 'items of users 2 to 2 of 2.'],
  [{ offset: -1 }, '"users":[{"id":3,', 'items of users 3 to 3 of 3.'],
  [{ limit: 1, offset: -2 }, '"users":[{"id":2,', 'items of users 2 to 2 of 3. Continue with offset 2.'],
  [{ offset: -7 }, '"users":[{"id":1,', 'items of users 1 to 3 of 3.'],
])('a page of %j has its items and the offset of the next one', (params, text, note) => {
  const paged = run(SHOP, params)
  expect(paged.text).toContain(text)
  expect(paged.notes).toContain(note)
})

it('lines of a text are paged, and it has no fields', () => {
  expect(run('x\ny\nz', { limit: 1, offset: 1 })).toEqual({
    text: 'y',
    notes: 'These are lines 2 to 2 of 3. Continue with offset 2.',
  })
  expect(run('x\ny\nz', { fields: ['a'] }).error).toContain('has no fields')
})

it('the last lines of a text are those before its last line break', () => {
  expect(run('x\ny\nz', { offset: -2 })).toEqual({ text: 'y\nz', notes: 'These are lines 2 to 3 of 3.' })
  expect(run('x\ny\nz\n', { offset: -2 }).text).toBe('y\nz\n')
  expect(run('', { offset: -2 }).text).toBe('')
})

it('rows of a table and lines of JSON keep their format', () => {
  expect(run('a,b,c\n1,2,3\n4,5,6\n', { fields: ['[].b'], limit: 1 }, 'text/csv').text).toBe('b\n2')
  expect(run('{"a":1,"b":2}\n{"a":3}\n', { fields: ['a'] }).text).toBe('{"a":1}\n{"a":3}')
})

it('binary content cannot be filtered', () => {
  expect(run('x', { fields: ['a'] }, 'image/png').error).toContain('binary (image/png)')
})

it('an empty page says so', () => {
  expect(run('[]', { limit: 1 })).toEqual({ text: '[]', notes: 'There are no items.' })
})

describe('an object whose names are data', () => {
  const users = Object.fromEntries(
    Array.from({ length: 1_000 }, (_, index) => [
      `user_${index}`,
      { name: `Name ${index}`, ...(index === 7 && { note: 'here' }) },
    ]),
  )
  const whole = JSON.stringify({ total: 1_000, users })

  it('is paged by its members', () => {
    const { text, notes } = run(whole, { fields: ['users'], limit: 2, offset: 500 })
    expect(text).toBe('{"users":{"user_500":{"name":"Name 500"},"user_501":{"name":"Name 501"}}}')
    expect(notes).toBe('These are members of users 501 to 502 of 1,000. Continue with offset 502.')
    expect(run(JSON.stringify(users), { limit: 1 }).notes).toContain('These are members 1 to 1 of 1,000.')
    expect(run(whole, { fields: ['users.*.name'], limit: 1 }).text).toBe('{"users":{"user_0":{"name":"Name 0"}}}')
    expect(run(whole, { fields: ['users'], offset: -1 }).text).toBe('{"users":{"user_999":{"name":"Name 999"}}}')
  })

  it('is not returned as empty objects', () => {
    expect(run(whole, { fields: ['users.*.note'] }).text).toBe('{"users":{"user_7":{"note":"here"}}}')
    expect(run(whole, { mode: 'exclude', fields: ['total', 'users.*.name'] })).toEqual({
      text: '{"users":{"user_7":{"note":"here"}}}',
      notes: '999 empty objects are left out.',
    })
    expect(run(whole, { mode: 'exclude', fields: ['users.*.name', 'users.*.note', 'total'] }).text).toBe('{}')
  })

  it('keeps all objects that were empty before', () => {
    const records = Array.from({ length: 25 }, (_, id) => ({ id, tags: {} }))
    const all = { text: JSON.stringify(records), notes: '' }
    expect(run(JSON.stringify(records), { fields: ['[].id', '[].tags'] })).toEqual(all)
    const noted = records.map(record => ({ ...record, more: { note: 'x' } }))
    expect(run(JSON.stringify(noted), { mode: 'exclude', fields: ['[].more.note', '[].tags.none'] })).toEqual({
      text: JSON.stringify(records),
      notes: expect.stringContaining('25 empty objects are left out.'),
    })
  })

  it('keeps a few empty objects', () => {
    expect(run('[{"a":1},{}]', { mode: 'exclude', fields: ['[].b'] }).text).toBe('[{"a":1},{}]')
  })
})
