import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import type { JsonValue } from '../../src/lib/kernel/json.ts'
import { runsOf } from '../support/cases-of-run.ts'
import { compiled, rendered, valuesOf } from './compiling.ts'
import { anyList, anyTree, entriesOf, listText, membersOf, textOf } from './list-arbitraries.ts'
import { LIST_POSITIONS, type ListPosition } from './list-positions.ts'

const { query, form, cookie, path, header, multipart } = LIST_POSITIONS

/**
 * Returns a function that sends a list in a position, and returns the entries between the fixed ones, or undefined if
 * the value was refused. Asserts that nothing around them changes.
 */
const sendIn = ({ template, read }: ListPosition, list: string) => {
  const { rest: calm } = read(rendered(template('calm'), { x: 'x' }))
  const { render } = compiled(template(list))
  return (v: JsonValue): readonly string[] | undefined => {
    const result = render(valuesOf({ v, x: 'x' }))
    if (!result.ok) return undefined
    const { entries, rest } = read(result.value)
    expect(rest).toEqual(calm)
    return entries
  }
}

const placeholder = ({ isOptional }: ListPosition, serialization: string): string =>
  `{{json:v${isOptional ? '?' : ''} | ${serialization}}}`

const SEPARATORS = { comma: ',', space: ' ', tab: '\t', pipe: '|', dot: '.' } as const

describe.each(Object.values(LIST_POSITIONS))('any list $where', position => {
  const { key, decode, separator, refuses, isOptional } = position

  it.each(Object.entries(SEPARATORS))('decodes to its members with "%s", or is refused', (serialization, char) => {
    const send = sendIn(position, key + placeholder(position, serialization))
    // What separates members may be what one of them contains, also in its encoded form.
    const isAmbiguous = separator(char) !== char || char === '.' || decode('%2C') === '%2C'
    const takesObjects = serialization !== 'tab' && serialization !== 'dot'
    fc.assert(
      fc.property(anyList, value => {
        const members = membersOf(value)
        const isEmpty = members.length === 0
        const entries = send(value)
        const isRefused =
          (isEmpty ? !isOptional : !(Array.isArray(value) || takesObjects) || refuses(members, char)) ||
          (isAmbiguous && members.some(member => member.includes(char)))
        expect(entries === undefined).toBe(isRefused)
        if (entries === undefined) return
        expect(entries.map(entry => entry.slice(0, key.length))).toEqual(isEmpty ? [] : [key])
        const texts = entries.flatMap(entry => entry.slice(key.length).split(separator(char)))
        expect(texts.map(decode)).toEqual(members)
      }),
      { numRuns: runsOf(500) },
    )
  })
})

describe.each([query, form, cookie, multipart])('any list with "repeat" $where', position => {
  const { key, decode, refuses, isOptional } = position

  it('decodes to one entry for each member, or is refused', () => {
    const send = sendIn(position, key + placeholder(position, 'repeat'))
    fc.assert(
      fc.property(anyList, value => {
        const members = membersOf(value)
        const entries = send(value)
        const isRefused = members.length === 0 ? !isOptional : !Array.isArray(value) || refuses(members, '')
        expect(entries === undefined).toBe(isRefused)
        if (entries !== undefined) {
          expect(entries.map(entry => entry.slice(0, key.length))).toEqual(members.map(() => key))
          expect(entries.map(entry => decode(entry.slice(key.length)))).toEqual(members)
        }
      }),
      { numRuns: runsOf(500) },
    )
  })
})

describe('any list with "repeat" in a path', () => {
  it('decodes to one matrix parameter for each member, or is refused', () => {
    const send = sendIn(path, 'a;k={{json:v | repeat}}')
    fc.assert(
      fc.property(anyList, value => {
        const members = membersOf(value)
        const entries = send(value)
        const isRefused = !Array.isArray(value) || ['', '.', '..'].includes(members.join(';k='))
        expect(entries === undefined).toBe(isRefused)
        if (entries === undefined) return
        const [name, ...parameters] = (entries[0] ?? '').split(';')
        expect([entries.length, name]).toEqual([1, 'a'])
        expect(parameters.map(one => decodeURIComponent(one))).toEqual(members.map(member => `k=${member}`))
      }),
      { numRuns: runsOf(500) },
    )
  })
})

/** Keys that are refused in any position, or that a server could take for one of the fixed ones. */
const isOddKey = (name: string, fixed: readonly string[]): boolean =>
  /\p{Cc}/u.test(name) ||
  !/^[^[\]]+(\[[^[\]]*\])*$/.test(name) ||
  fixed.includes((name.toLowerCase().split('[')[0] ?? '').trim())

describe.each([
  { position: query, before: '', between: '&', fixed: ['fixed', 'last'] },
  { position: form, before: '', between: '&', fixed: ['fixed', 'last'] },
  { position: cookie, before: '', between: '; ', fixed: ['fixed', 'last'] },
  { position: path, before: ';', between: ';', fixed: [] },
  { position: path, before: '.', between: '.', fixed: [] },
  { position: path, before: '', between: ',', fixed: [] },
  { position: header, before: 'own=1,', between: ',', fixed: ['own'] },
])('any object with "spread" $position.where, between "$between"', ({ position, before, between, fixed }) => {
  const { decode, refuses, isOptional } = position

  it('decodes to its keys and values, or is refused', () => {
    const send = sendIn(position, before + placeholder(position, 'spread'))
    const isAmbiguous = between === '.' || position === header
    fc.assert(
      fc.property(anyList, value => {
        const pairs = Array.isArray(value) ? [] : entriesOf(value)
        const entries = send(value)
        const isEmpty = membersOf(value).length === 0
        const isRefused =
          (isEmpty ? !isOptional : Array.isArray(value)) ||
          pairs.some(([name]) => isOddKey(name, fixed) || (position === header && name.includes('='))) ||
          (isAmbiguous && pairs.flat().some(text => text.includes(between))) ||
          (position === header && (refuses(pairs.flat(), '') || pairs.flat().some(text => text.includes(';'))))
        expect(entries === undefined).toBe(isRefused)
        if (entries === undefined) return
        const sent = entries.join(between)
        expect(sent.slice(0, before.length)).toBe(isEmpty ? '' : before)
        const texts = isEmpty ? [] : sent.slice(before.length).split(between)
        const read = texts.map(text => /^([^=]*)=([\s\S]*)$/.exec(text)?.slice(1).map(decode))
        expect(read).toEqual(pairs)
      }),
      { numRuns: runsOf(500) },
    )
  })
})

/** The keys on the way to a text, as arrays and objects have them. */
type Leaf = { keys: readonly string[]; text: string }

const leavesOf = (value: JsonValue, keys: readonly string[] = []): Leaf[] => {
  if (value === null) return []
  if (typeof value !== 'object') return [{ keys, text: textOf(value) }]
  const isFlat = Array.isArray(value) && !value.some(item => typeof item === 'object' && item !== null)
  return Object.entries(value).flatMap(([name, one]) => leavesOf(one, [...keys, isFlat ? '' : name.toWellFormed()]))
}
const keysOf = (value: JsonValue): string[] =>
  value === null || typeof value !== 'object'
    ? []
    : Object.entries(value).flatMap(([name, one]) => (one === null ? [] : [name, ...keysOf(one)]))

describe.each([query, form])('any object with "brackets" $where', position => {
  it('decodes to its texts and the keys on the way to them, or is refused', () => {
    const send = sendIn(position, 'f{{json:v? | brackets}}')
    fc.assert(
      fc.property(anyTree, value => {
        const leaves = leavesOf(value)
        const entries = send(value)
        const isRefused = leaves.length > 0 && keysOf(value).some(name => name === '' || /[\p{Cc}[\]]/u.test(name))
        expect(entries === undefined).toBe(isRefused)
        if (entries === undefined) return
        const read = entries.map((entry): Leaf => {
          const [, name = '', text = ''] = /^([^=]*)=([^=]*)$/.exec(entry) ?? []
          const [first = '', ...keys] = decodeURIComponent(name).split('[')
          expect(first).toBe('f')
          return { keys: keys.map(one => one.replace(/\]$/, '')), text: decodeURIComponent(text) }
        })
        expect(read).toEqual(leaves)
      }),
      { numRuns: runsOf(1_000) },
    )
  })
})

describe('any text with "segments"', () => {
  it('keeps its slashes, and adds segments only between the fixed ones, or is refused', () => {
    const { render } = compiled({ url: 'https://api.example.com/a/{{v | segments}}/b/x{{v | segments}}?q=1' })
    const segment = fc.oneof(listText, fc.constantFrom('', '.', '..', '...', '%2e', 'a'))
    const text = fc.array(segment, { minLength: 1, maxLength: 4 }).map(parts => parts.join('/'))
    fc.assert(
      fc.property(text, v => {
        const result = render(valuesOf({ v }))
        const segments = v.toWellFormed().split('/')
        expect(result.ok).toBe(segments.every(segment => !['', '.', '..'].includes(segment)))
        if (!result.ok) return
        const { origin, pathname, search, hash, href } = new URL(result.value.url)
        const [first, ...rest] = segments
        expect(pathname.split('/').map(decodeURIComponent)).toEqual(['', 'a', ...segments, 'b', `x${first}`, ...rest])
        expect([origin, search, hash, href]).toEqual(['https://api.example.com', '?q=1', '', result.value.url])
      }),
      { numRuns: runsOf(1_000) },
    )
  })
})
