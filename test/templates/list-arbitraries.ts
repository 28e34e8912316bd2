import fc from 'fast-check'
import type { JsonObject, JsonValue } from '../../src/lib/kernel/json.ts'
import { nastyJson, nastyText } from './nasty.ts'

/** Fragments that, without encoding, would break out of a list or into another key. */
const FRAGMENTS = [
  ...['a', 'k', 'f', 'fixed', 'FIXED', '[', ']', '][', '[]', '=', '&', ',', ';', '; ', '|', '.', ' ', '\t', '-', '--'],
  ...['%2C', '%26', '%3D', '%3B', '\r\n', 'part-7', 'k=', '&k=', '; k=', ';k=', ', k=', 'f[a]', '__Host-k', '$Path'],
]

export const listText = fc.oneof(
  nastyText,
  fc.array(fc.constantFrom(...FRAGMENTS), { maxLength: 4 }).map(parts => parts.join('')),
)

const leaf: fc.Arbitrary<JsonValue> = fc.oneof(
  { weight: 4, arbitrary: listText },
  { weight: 1, arbitrary: fc.oneof(fc.integer(), fc.boolean(), fc.constant(null)) },
)
const member = fc.oneof({ weight: 6, arbitrary: leaf }, { weight: 1, arbitrary: nastyJson })

export const anyArray: fc.Arbitrary<JsonValue[]> = fc.array(member, { maxLength: 5 })
const anyObject: fc.Arbitrary<JsonObject> = fc
  .array(fc.tuple(listText, member), { maxLength: 4 })
  .map(entries => Object.fromEntries(entries.filter(([key]) => key !== '__proto__')))
export const anyList: fc.Arbitrary<JsonValue[] | JsonObject> = fc.oneof(anyArray, anyObject)

/** Nested arrays and objects, up to 20 levels deep. */
export const anyTree: fc.Arbitrary<JsonObject> = fc.letrec<{ node: JsonValue; array: JsonValue[]; object: JsonObject }>(
  tie => ({
    node: fc.oneof({ depthSize: 'medium', maxDepth: 20 }, leaf, tie('array'), tie('object')),
    array: fc.array(tie('node'), { maxLength: 4 }),
    object: fc
      .array(fc.tuple(listText, tie('node')), { maxLength: 4 })
      .map(entries => Object.fromEntries(entries.filter(([key]) => key !== '__proto__'))),
  }),
).object

/** The meaning of a member as text. */
export const textOf = (value: JsonValue): string =>
  (typeof value === 'string' ? value : JSON.stringify(value)).toWellFormed()

export const entriesOf = (value: JsonObject): [string, string][] =>
  Object.entries(value).flatMap(([key, one]) => (one === null ? [] : [[key.toWellFormed(), textOf(one)]]))

/** The meaning of a list: its members or, of an object, its keys and values by turns. */
export const membersOf = (value: JsonValue[] | JsonObject): string[] =>
  Array.isArray(value) ? value.filter(one => one !== null).map(textOf) : entriesOf(value).flat()
