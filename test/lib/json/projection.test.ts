import fc from 'fast-check'
import { jsonpath } from 'json-p3'
import { expect, it } from 'vitest'
import { parsePath } from '../../../src/lib/json/path.ts'
import { excludePaths, includePaths } from '../../../src/lib/json/project.ts'
import type { JsonValue } from '../../../src/lib/kernel/json.ts'
import { keysTo } from '../../../src/lib/search/place-paths.ts'
import { buildIndex } from '../../../src/lib/search/search-index.ts'
import { runsOf } from '../../support/cases-of-run.ts'

// The reference is a JSONPath implementation (RFC 9535). It finds the places that paths lead to, and the projection
// must keep or drop exactly these places.

type Step = { own: string; alternatives: readonly string[] }
type Location = readonly (string | number)[]

const NAMES = ['a', 'b', 'id', 'first name', 'x.y', '__proto__']
/**
 * A name applied to an array selects that member of each item, through any number of nested arrays. These documents
 * nest at most three arrays.
 */
const THROUGH_ARRAYS = ['', '[:]', '[:][:]', '[:][:][:]']

const value = fc.letrec<{ value: JsonValue; list: JsonValue; object: JsonValue }>(tie => ({
  value: fc.oneof(
    { maxDepth: 3, depthSize: 'max' },
    fc.constantFrom<JsonValue>(null, true, 7, 'text'),
    tie('list'),
    tie('object'),
  ),
  list: fc.array(tie('value'), { maxLength: 4 }),
  object: fc
    .uniqueArray(fc.tuple(fc.constantFrom(...NAMES), tie('value')), { selector: ([name]) => name, maxLength: 4 })
    .map(entries => Object.fromEntries(entries)),
})).value

const plainStep = fc.oneof(
  fc.constantFrom(...NAMES).map(
    (name): Step => ({
      own: /^\w+$/.test(name) ? `.${name}` : `[${JSON.stringify(name)}]`,
      alternatives: THROUGH_ARRAYS.map(through => `${through}[${JSON.stringify(name)}]`),
    }),
  ),
  fc.constant<Step>({ own: '[]', alternatives: ['[:]'] }),
  fc.constant<Step>({ own: '.*', alternatives: ['[*]'] }),
  fc.integer({ min: -2, max: 3 }).map((index): Step => ({ own: `[${index}]`, alternatives: [`[${index}]`] })),
)
const deepStep = plainStep.map(
  ({ own, alternatives }): Step => ({ own: `.**${own}`, alternatives: alternatives.map(each => `..${each}`) }),
)
const step = fc.oneof({ weight: 4, arbitrary: plainStep }, { weight: 1, arbitrary: deepStep })
const path = fc.array(step, { minLength: 1, maxLength: 3 })
const paths = fc.array(path, { minLength: 1, maxLength: 3 })

const referencesOf = (steps: readonly Step[]): readonly string[] =>
  steps.reduce<readonly string[]>(
    (starts, { alternatives }) => starts.flatMap(start => alternatives.map(alternative => start + alternative)),
    ['$'],
  )

const keyOf = (location: Location): string => JSON.stringify(location)

const placesOf = (root: JsonValue, wanted: readonly (readonly Step[])[]): ReadonlySet<string> => {
  const places = wanted.flatMap(steps =>
    referencesOf(steps).flatMap(reference => [...jsonpath.query(reference, root)].map(node => keyOf(node.location))),
  )
  return new Set(places)
}

const childrenOf = (node: JsonValue): readonly (readonly [string | number, JsonValue])[] => {
  if (Array.isArray(node)) return node.map((item, index) => [index, item] as const)
  return typeof node === 'object' && node !== null ? Object.entries(node) : []
}

const build = (node: JsonValue, kept: readonly (readonly [string | number, JsonValue])[]): JsonValue =>
  Array.isArray(node) ? kept.map(([, item]) => item) : Object.fromEntries(kept)

const keepOnly = (node: JsonValue, places: ReadonlySet<string>, at: Location = []): JsonValue | undefined => {
  if (places.has(keyOf(at))) return node
  const kept = childrenOf(node).flatMap(([key, child]): [string | number, JsonValue][] => {
    const part = keepOnly(child, places, [...at, key])
    return part === undefined ? [] : [[key, part]]
  })
  return kept.length === 0 ? undefined : build(node, kept)
}

const takeAway = (node: JsonValue, places: ReadonlySet<string>, at: Location = []): JsonValue => {
  if (typeof node !== 'object' || node === null) return node
  const kept = childrenOf(node).flatMap(([key, child]): [string | number, JsonValue][] =>
    places.has(keyOf([...at, key])) ? [] : [[key, takeAway(child, places, [...at, key])]],
  )
  return build(node, kept)
}

const parseAll = (wanted: readonly (readonly Step[])[]) =>
  wanted.map(steps => {
    const parsed = parsePath(steps.map(({ own }) => own).join(''))
    if (!parsed.ok) throw new Error(parsed.error.message)
    return parsed.value
  })

/** Serializes a value with its members sorted, including an own `__proto__`. */
const toText = (node: JsonValue | undefined): string => {
  if (Array.isArray(node)) return `[${node.map(toText).join()}]`
  if (typeof node !== 'object' || node === null) return JSON.stringify(node) ?? 'nothing'
  const members = Object.entries(node).map(([name, child]) => `${JSON.stringify(name)}:${toText(child)}`)
  return `{${members.sort().join()}}`
}

it('keeps in place what an independent JSONPath finds', () => {
  fc.assert(
    fc.property(value, paths, (root, wanted) => {
      expect(toText(includePaths(root, parseAll(wanted)))).toBe(toText(keepOnly(root, placesOf(root, wanted))))
    }),
    { numRuns: runsOf(1_000) },
  )
})

it('drops what an independent JSONPath finds, and nothing else', () => {
  fc.assert(
    fc.property(value, paths, (root, wanted) => {
      expect(toText(excludePaths(root, parseAll(wanted)))).toBe(toText(takeAway(root, placesOf(root, wanted))))
    }),
    { numRuns: runsOf(1_000) },
  )
})

/** Returns the locations of all searchable values at or below the given places. */
const leavesBelow = (node: JsonValue, places: ReadonlySet<string>, isBelow = false, at: Location = []): string[] => {
  const isHere = isBelow || places.has(keyOf(at))
  if (typeof node !== 'object') return isHere && node !== '' ? [keyOf(at)] : []
  return childrenOf(node).flatMap(([key, child]) => leavesBelow(child, places, isHere, [...at, key]))
}

it('searches what an independent JSONPath finds, and everything below', () => {
  fc.assert(
    fc.property(value, paths, (root, wanted) => {
      const index = buildIndex({ kind: 'json', value: root, format: 'json' })
      const values = index.kind === 'json' ? index.within(parseAll(wanted)).values.places : []
      expect(values.map(place => keyOf(keysTo(place)))).toEqual(leavesBelow(root, placesOf(root, wanted)))
    }),
    { numRuns: runsOf(1_000) },
  )
})

it('never changes the value', () => {
  fc.assert(
    fc.property(value, paths, (root, wanted) => {
      const before = toText(root)
      includePaths(root, parseAll(wanted))
      excludePaths(root, parseAll(wanted))
      expect(toText(root)).toBe(before)
    }),
  )
})
