import { isJsonObject, type JsonObject, type JsonValue } from '../../lib/kernel/json.ts'

/** Returns a value if it is an object, and otherwise an empty one: descriptions have anything anywhere. */
export const toObject = (value: JsonValue | undefined): JsonObject => (isJsonObject(value) ? value : {})

export const toList = (value: JsonValue | undefined): readonly JsonValue[] => (Array.isArray(value) ? value : [])

export const toText = (value: JsonValue | undefined): string => (typeof value === 'string' ? value : '')

/** Returns the members of an object that are objects themselves. */
export const objectEntries = (value: JsonValue | undefined): readonly (readonly [string, JsonObject])[] =>
  Object.entries(toObject(value)).flatMap(([key, member]) => (isJsonObject(member) ? [[key, member] as const] : []))

/** Returns an own member, so that `constructor` is nothing unless the object has it. */
export const memberOf = (value: JsonValue | undefined, key: string): JsonValue | undefined => {
  if (Array.isArray(value)) return /^\d+$/.test(key) ? value[Number(key)] : undefined
  return isJsonObject(value) && Object.hasOwn(value, key) ? value[key] : undefined
}

/** Counting fewer members is fast. */
const MANY_MEMBERS = 1_000
const sizes = new WeakMap<JsonObject, number>()

/** Returns the number of members. Counts those of a large object only once, because many operations can refer to it. */
export const sizeOf = (object: JsonObject): number => {
  const size = sizes.get(object) ?? Object.keys(object).length
  if (size >= MANY_MEMBERS) sizes.set(object, size)
  return size
}

/** Measuring shorter values is fast. */
const MANY_CHARS = 300
const lengths = new WeakMap<object, number>()

/** Returns the length of a value as JSON. Measures a long one only once, because many operations can refer to it. */
export const jsonLengthOf = (value: JsonValue): number => {
  if (typeof value !== 'object' || value === null) return JSON.stringify(value).length
  const length = lengths.get(value) ?? JSON.stringify(value).length
  if (length >= MANY_CHARS) lengths.set(value, length)
  return length
}
