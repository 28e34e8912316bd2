import type { JsonObject, JsonValue } from '../kernel/json.ts'
import { shorten } from './cut-text.ts'
import { hasMembers } from './path.ts'

// An object is keyed if its names are data, such as ids, and its members are all alike: `{"u1": {…}, "u2": {…}, …}`.

/** Minimum members of a keyed object: fewer if they are objects with the same names, and more if they are single values. */
const MIN_ALIKE_OBJECTS = 12
const MIN_CONTAINERS = 41
const MIN_SINGLE_VALUES = 100
const MEMBERS_COMPARED = 8
/** How many of the compared members must share at least half of their names with the first. */
const MIN_ALIKE = 6
const NAMES_COMPARED = 50
const KEYS_COMPARED = 200
const MAX_KEY_CHARACTERS = 40

const kindOf = (value: JsonValue | undefined): string =>
  Array.isArray(value) ? 'list' : value === null ? 'null' : typeof value

/** Returns items at about equal distances, including the first. */
const spread = <Item>(items: readonly Item[], most: number): readonly Item[] => {
  const step = Math.max(1, items.length / most)
  return Array.from({ length: Math.min(most, items.length) }, (_, index) => items[Math.floor(index * step)]).filter(
    item => item !== undefined,
  )
}

const isAlike = (first: readonly string[], other: readonly string[]): boolean => {
  const shared = other.filter(name => first.includes(name)).length
  return shared * 2 >= Math.max(first.length, other.length)
}

const haveSameNames = (members: readonly (JsonValue | undefined)[]): boolean => {
  const namesOf = (member: JsonValue | undefined): string[] =>
    hasMembers(member) ? Object.keys(member).slice(0, NAMES_COMPARED) : []
  const first = namesOf(members[0])
  return members.filter(member => isAlike(first, namesOf(member))).length >= MIN_ALIKE
}

/** Returns whether an object with these names is keyed. Compares a few of its members. */
export const isKeyed = (value: JsonObject, names: readonly string[]): boolean => {
  if (names.length < MIN_ALIKE_OBJECTS) return false
  const members = spread(names, MEMBERS_COMPARED).map(name => value[name])
  const kind = kindOf(members[0])
  if (!members.every(member => kindOf(member) === kind)) return false
  if (kind !== 'object' && kind !== 'list') return names.length >= MIN_SINGLE_VALUES
  return names.length >= MIN_CONTAINERS || (kind === 'object' && haveSameNames(members))
}

/** Parts of keys that differ from one key to the next, and how a pattern names them. The first one that fits is used. */
const PARTS: readonly [RegExp, string][] = [
  [/[0-9a-f]{8}-(?:[0-9a-f]{4}-){3}[0-9a-f]{12}/gi, '<uuid>'],
  [/\d{4}-\d{2}-\d{2}(?:T[\d:.]+Z?)?/g, '<date>'],
  [/(?<![a-z0-9])(?=\d*[a-f])(?=[a-f]*\d)[0-9a-f]{8,64}(?![a-z0-9])/gi, '<hex>'],
  [/\d+/g, '<number>'],
]
const MAX_PATTERNS = 3
const MIN_PREFIX_CHARACTERS = 2

const patternOf = (key: string): string =>
  PARTS.reduce((text, [part, name]) => text.replaceAll(part, name), key.slice(0, 4 * MAX_KEY_CHARACTERS))

/** Returns the common beginning of the keys, of which no more than is shown is compared. */
const commonPrefix = (keys: readonly string[]): string => {
  const [first = ''] = keys
  let length = Math.min(first.length, MAX_KEY_CHARACTERS)
  for (const key of keys) {
    let same = 0
    while (same < length && key.charCodeAt(same) === first.charCodeAt(same)) same++
    length = same
  }
  return first.slice(0, length)
}

/** Returns the pattern of the keys of a keyed object, such as `user_<number>`, or undefined if they have none. */
export const keyPattern = (names: readonly string[]): string | undefined => {
  const keys = spread(names, KEYS_COMPARED)
  const patterns = new Set(keys.map(patternOf))
  if (patterns.size <= MAX_PATTERNS && patterns.size < keys.length / 2) {
    return [...patterns].map(pattern => shorten(pattern, MAX_KEY_CHARACTERS)).join(' or ')
  }
  const prefix = commonPrefix(keys)
  return prefix.length < MIN_PREFIX_CHARACTERS ? undefined : `${prefix}…`
}
