import fc from 'fast-check'
import { expect, it } from 'vitest'
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

it('an outline has types, counts, ranges, frequencies and samples', () => {
  expect(run(SHOP)).toBe(`$: object
  total: integer: 4
  big: integer: 12345678901234567890
  users: list of 3 items, each object
    id: integer, 3 to 9
    name: text of 3 characters, such as "Ann", "Bob", "Eve"
    kind: text of 5 characters, one of "staff", "guest"
    active: boolean, true in 1 of 3
    score: number, -3 to 2
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
  expect(run(SHOP, { path: 'users.id' })).toBe('users.id: 3 places, each integer, 3 to 9')
})

it('a path that matches nothing returns what exists instead', () => {
  expect(run(SHOP, { path: 'user' })).toContain('There are the members total, big, users')
  expect(run(SHOP, { path: 'a[' })).toContain('is not a path')
})

it('depth and samples are as requested', () => {
  expect(run(SHOP, { depth: 1 })).not.toContain('city')
  expect(run(SHOP, { samples: 1 })).toContain('such as "Ann"\n')
  expect(run(SHOP, { samples: 0 })).not.toContain('Ann')
  const names = JSON.stringify(Array.from({ length: 30 }, (_, index) => `name ${index}`))
  expect(run(names, { samples: 20 }).match(/name/g)).toHaveLength(20)
  expect(run(names, { samples: 21 }).match(/name/g)).toHaveLength(20)
  const kinds = JSON.stringify(Array.from({ length: 60 }, (_, index) => `kind ${index % 20}`))
  expect(run(kinds, { samples: 20 })).toContain('one of "kind 0", ')
})

it('an object with many similar members is described once for all of them', () => {
  const table = Object.fromEntries(Array.from({ length: 900 }, (_, index) => [`u${index}`, { age: index }]))
  expect(run(JSON.stringify({ table }))).toBe(`$: object
  table: table of 900 keys such as "u0", "u1", "u2"
    *: object
      age: integer, 0 to 899`)
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
