import { isJsonObject, type JsonObject, type JsonValue } from '../../lib/kernel/json.ts'
import { MAX_LIST_PAIRS } from '../limits.ts'
import { type Fault, orList, type ScannedPlace } from '../scan.ts'
import type { Serialization, TemplateParameter } from '../template.ts'
import type { KeySet } from './key-set.ts'

export type ListSerialization = Exclude<Serialization, 'segments'>
export type SeparatedSerialization = 'comma' | 'space' | 'tab' | 'pipe' | 'dot'
export type ListType = 'array' | 'object'

/** As in OpenAPI 3.1.1 ("Style Values") and, for `tab`, in Swagger 2.0 (`collectionFormat`). */
const ACCEPTED: Readonly<Record<ListSerialization, readonly ListType[]>> = {
  repeat: ['array'],
  comma: ['array', 'object'],
  space: ['array', 'object'],
  tab: ['array'],
  pipe: ['array', 'object'],
  dot: ['array'],
  brackets: ['object'],
  spread: ['object'],
}

export const acceptedBy = (serialization: ListSerialization): readonly ListType[] => ACCEPTED[serialization]

/** Returns the types that all serializations of a parameter accept. Undefined if it is not serialized as a list. */
export const acceptedTypes = (
  places: readonly { serialization?: Serialization | undefined }[],
): readonly ListType[] | undefined =>
  places.reduce<readonly ListType[] | undefined>((accepted, { serialization }) => {
    if (serialization === undefined || serialization === 'segments') return accepted
    return ACCEPTED[serialization].filter(type => accepted === undefined || accepted.includes(type))
  }, undefined)

const TYPE_NAMES: Readonly<Record<ListType, string>> = { array: 'an array', object: 'an object' }

export const describeTypes = (types: readonly ListType[]): string => orList(types.map(type => TYPE_NAMES[type]))

export const isOneOf = (value: JsonValue, types: readonly ListType[]): boolean =>
  (Array.isArray(value) && types.includes('array')) || (isJsonObject(value) && types.includes('object'))

/** Reports serializations that are not allowed in a position. `where` completes a sentence, as in `in a header`. */
export const checkSerializations = (
  places: readonly ScannedPlace[],
  allowed: readonly Serialization[],
  where: string,
): readonly Fault[] =>
  places.flatMap(({ serialization, offset, isBroken }) => {
    if (serialization === undefined || isBroken || allowed.includes(serialization)) return []
    const instead =
      allowed.length === 0
        ? 'Serializations are for the path and query of the URL, headers and forms'
        : `Use ${orList(allowed)}`
    return [{ offset, message: `"${serialization}" is not allowed ${where}. ${instead}` }]
  })

/** A list is empty if it has no members, or only members that would be left out. */
const isEmptyList = (value: JsonValue): boolean => {
  if (value === null) return true
  if (typeof value !== 'object') return false
  return (Array.isArray(value) ? value : Object.values(value)).every(member => member === null)
}

const isEmptyTree = (value: JsonValue): boolean =>
  value === null || (typeof value === 'object' && Object.values(value).every(isEmptyTree))

/** Returns whether a value counts as missing, because the serialization would send nothing for it. */
export const isEmptyAs = (serialization: Serialization | undefined, value: JsonValue): boolean => {
  if (serialization === undefined || serialization === 'segments') return false
  return serialization === 'brackets' ? isEmptyTree(value) : isEmptyList(value)
}

/**
 * Returns whether an argument counts as missing. Models send null for arguments they omit. Null is a valid value only for
 * `json` parameters, and not for lists, which are also missing if they are empty.
 */
export const isMissing = ({ type, places }: TemplateParameter, argument: JsonValue | undefined): boolean =>
  argument === undefined ||
  (argument === null && type !== 'json') ||
  places.every(({ serialization }) => isEmptyAs(serialization, argument))

/** How a text is encoded in a position. Returns undefined for a text that is not allowed there. */
export type Encode = (text: string) => string | undefined

/** Returns a member as text. Lists within lists become JSON, because OpenAPI does not define how to serialize them. */
const textOf = (value: JsonValue): string => (typeof value === 'string' ? value : JSON.stringify(value))

const presentEntries = (value: JsonObject): [string, JsonValue][] =>
  Object.entries(value).filter(([, member]) => member !== null)

/**
 * Joins texts. Returns undefined if one of them is. Stops once the result is longer than `maxChars`, which the renderer
 * then rejects: a few members with long keys could result in a huge text.
 */
const joinUpTo = <Item>(
  maxChars: number,
  separator: string,
  items: Iterable<Item>,
  toText: (item: Item) => string | undefined,
): string | undefined => {
  let joined: string | undefined
  for (const item of items) {
    const text = toText(item)
    if (text === undefined) return undefined
    joined = joined === undefined ? text : joined + separator + text
    if (joined.length > maxChars) break
  }
  return joined
}

/** Encodes a text, unless the result contains a separator, which would make two texts of it. */
const encodeApart = (text: string, separators: readonly string[], encode: Encode): string | undefined => {
  const encoded = encode(text)
  return encoded === undefined || separators.some(separator => encoded.includes(separator)) ? undefined : encoded
}

export type SerializeOptions = { separator: string; encode: Encode; maxChars: number }

/** Serializes `a,b`. The keys and values of an object alternate. */
export const serializeMembers = (value: JsonValue, { separator, encode, maxChars }: SerializeOptions) => {
  const members = Array.isArray(value) ? value : isJsonObject(value) ? presentEntries(value).flat() : []
  const present = members.filter(member => member !== null)
  return joinUpTo(maxChars, separator, present, member => encodeApart(textOf(member), [separator], encode))
}

/**
 * Matches a name and the keys of its members, as in `f[a][]`. Servers do not agree on other brackets: to qs, `[a]` is the
 * key `a`, and so are `]a` and `a]` to Rack.
 */
const NAME_AND_MEMBERS = /^[^[\]]+(?:\[[^[\]]*\])*$/

/** PHP cuts a key at a NUL. */
const isKey = (key: string): boolean => NAME_AND_MEMBERS.test(key) && !/\p{Cc}/u.test(key)

/** Serializes `a=1&b=2`. Rejects keys that are `taken`, and more pairs than `MAX_LIST_PAIRS`. */
export const serializePairs = (value: JsonObject, taken: KeySet, { separator, encode, maxChars }: SerializeOptions) => {
  const entries = presentEntries(value)
  if (entries.length > MAX_LIST_PAIRS) return undefined
  return joinUpTo(maxChars, separator, entries, ([key, member]) => {
    if (!isKey(key) || taken.has(key)) return undefined
    const name = encodeApart(key, ['=', separator], encode)
    const text = encodeApart(textOf(member), [separator], encode)
    return name === undefined || text === undefined ? undefined : `${name}=${text}`
  })
}

/** Yields `[a]=1`, `[b][]=2`, `[c][0][d]=3`, percent-encoded, and undefined for a key that is not allowed. */
function* bracketed(value: JsonValue, path: string, encode: Encode): Generator<string | undefined> {
  if (value === null || typeof value !== 'object') {
    yield `${path}=${encode(textOf(value))}`
    return
  }
  const isFlat = Array.isArray(value) && value.every(item => item === null || typeof item !== 'object')
  for (const [key, member] of Object.entries(value)) {
    if (member === null) continue
    if (!isKey(key) || /[[\]]/.test(key)) yield undefined
    yield* bracketed(member, `${path}%5B${isFlat ? '' : encode(key)}%5D`, encode)
  }
}

/**
 * Serializes an object behind its `key`: `[a]=1&key[b]=2`, as Rails, PHP and qs read it. Rejects members whose keys are
 * `taken`, and more pairs than `MAX_LIST_PAIRS`.
 */
export const serializeBrackets = (
  value: JsonObject,
  key: { encoded: string; decoded: string },
  taken: KeySet,
  { separator, encode, maxChars }: SerializeOptions,
) => {
  const isTaken = presentEntries(value).some(([name]) => taken.has(`${key.decoded}[${name}]`))
  if (isTaken) return undefined
  let count = 0
  return joinUpTo(maxChars, `${separator}${key.encoded}`, bracketed(value, '', encode), pair =>
    ++count > MAX_LIST_PAIRS ? undefined : pair,
  )
}
