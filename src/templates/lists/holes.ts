import { isJsonObject, type JsonValue } from '../../lib/kernel/json.ts'
import { encodeInQuery, FORBIDDEN_IN_HEADER, percentEncode, withoutBoundary } from '../encodings.ts'
import { MAX_LIST_PAIRS } from '../limits.ts'
import { type Hole, maxCharsOf } from '../plan.ts'
import { decodeKey, type KeySet } from './key-set.ts'
import {
  acceptedBy,
  describeTypes,
  type Encode,
  isEmptyAs,
  isOneOf,
  type ListSerialization,
  type SeparatedSerialization,
  serializeBrackets,
  serializeMembers,
  serializePairs,
} from './serialize.ts'

const SEPARATORS: Readonly<Record<SeparatedSerialization, string>> = {
  comma: ',',
  space: ' ',
  tab: '\t',
  pipe: '|',
  dot: '.',
}

const SEPARATOR_NAMES: Readonly<Record<string, string>> = {
  ',': 'a comma',
  ' ': 'a space',
  '\t': 'a tab',
  '|': '"|"',
  '.': 'a dot',
  ';': 'a semicolon',
}

/** The encoding of lists in one position, such as the query. */
type Position = {
  kind: Hole['kind']
  encode: Encode
  /** Encodes the character between members. */
  encodeSeparator: (char: string) => string
  /** Which texts the encoding rejects, as the end of a sentence. */
  rejects?: string
}

/** RFC 6570 percent-encodes members and leaves commas and dots between them. Other separators are not URL characters. */
const encodeSeparator = (char: string): string => (char === ',' || char === '.' ? char : percentEncode(char))
const unchanged = (char: string): string => char

const QUERY: Position = { kind: 'query', encode: encodeInQuery, encodeSeparator }
const FORM: Position = { kind: 'form', encode: percentEncode, encodeSeparator }
const PATH: Position = { kind: 'path', encode: percentEncode, encodeSeparator }

/** Parentheses are not allowed in the name of a cookie (RFC 6265 §4.1.1). */
const encodeInCookie = (text: string): string => percentEncode(text).replaceAll('(', '%28').replaceAll(')', '%29')
const COOKIE: Position = { kind: 'cookie', encode: encodeInCookie, encodeSeparator }

/** Returns whether a text may end within a quoted string (RFC 9110 §5.6.4), to which the next member would belong. */
const hasOpenQuote = (text: string): boolean =>
  text.includes('"') && (text.includes('\\') || text.split('"').length % 2 === 0)

/** Recipients ignore empty members of a list in a header, and white space around members (RFC 9110 §5.6.1). */
const encodeInHeader: Encode = text =>
  text === '' || text !== text.trim() || FORBIDDEN_IN_HEADER.test(text) || hasOpenQuote(text) ? undefined : text
const HEADER: Position = {
  kind: 'header',
  encode: encodeInHeader,
  encodeSeparator: unchanged,
  rejects:
    'are empty, start or end with white space, or contain line breaks, control characters, unpaired quotes or characters beyond Latin-1',
}

/** A semicolon starts parameters of a member, which some recipients read like members. */
const HEADER_PAIRS: Position = {
  ...HEADER,
  encode: text => (text.includes(';') ? undefined : encodeInHeader(text)),
  rejects: `contain a semicolon, or ${HEADER.rejects}`,
}

const multipart = (boundaries: readonly string[]): Position => ({
  kind: 'multipart',
  encode: text => withoutBoundary(text, boundaries),
  encodeSeparator: unchanged,
  rejects: 'contain the boundary',
})

const sentenceOf = (serialization: ListSerialization, rejected: readonly string[]): string => {
  const types = describeTypes(acceptedBy(serialization))
  const limit = serialization === 'brackets' || serialization === 'spread' ? ` of at most ${MAX_LIST_PAIRS} pairs` : ''
  return `must be ${types}${limit}${rejected.length === 0 ? '' : `, without members that ${rejected.join(', or ')}`}`
}

/** Returns the hole for a list in a position. `whenMissing` is always undefined, so an empty list removes its pair. */
const holeOfList = (
  { kind }: Position,
  serialization: ListSerialization,
  rejected: readonly (string | undefined)[],
  serialize: (value: JsonValue) => string | undefined,
): Hole => ({
  kind,
  encode: value => (isOneOf(value, acceptedBy(serialization)) ? serialize(value) : undefined),
  refusal: sentenceOf(
    serialization,
    rejected.filter(reason => reason !== undefined),
  ),
  whenMissing: undefined,
  isEmpty: value => isEmptyAs(serialization, value),
})

const separatedHole = (position: Position, serialization: SeparatedSerialization): Hole => {
  const { kind, encode, encodeSeparator, rejects } = position
  const char = SEPARATORS[serialization]
  const separator = encodeSeparator(char)
  const isAmbiguous = encode(char)?.includes(separator) !== false
  const contain = isAmbiguous ? `contain ${SEPARATOR_NAMES[char]}` : undefined
  const options = { separator, encode, maxChars: maxCharsOf(kind) }
  return holeOfList(position, serialization, [rejects, contain], value => serializeMembers(value, options))
}

/** Repeats `before`, which the template has once, in front of each further member. */
const repeatHole = (position: Position, before: string): Hole => {
  const options = { separator: before, encode: position.encode, maxChars: maxCharsOf(position.kind) }
  return holeOfList(position, 'repeat', [position.rejects], value => serializeMembers(value, options))
}

const REJECTED_KEYS =
  'have an empty key, a key with control characters or with brackets except [member] at its end, or a key that the request already has'

const spreadHole = (position: Position, separator: string, taken: KeySet): Hole => {
  const { kind, encode, rejects } = position
  const char = separator.trim()
  const isAmbiguous = encode(char)?.includes(char) !== false
  const contain = isAmbiguous
    ? `contain ${SEPARATOR_NAMES[char]}${kind === 'header' ? ', or "=" in their key' : ''}`
    : undefined
  const options = { separator, encode, maxChars: maxCharsOf(kind) }
  return holeOfList(position, 'spread', [REJECTED_KEYS, rejects, contain], value =>
    isJsonObject(value) ? serializePairs(value, taken, options) : undefined,
  )
}

/** A list in a query or form. `key` is the encoded key in front of it, and `taken` are the other keys. */
export const pairListHole = (
  kind: 'query' | 'form',
  serialization: ListSerialization,
  key: string,
  taken: KeySet,
): Hole => {
  const position = kind === 'query' ? QUERY : FORM
  if (serialization === 'repeat') return repeatHole(position, `&${key}=`)
  if (serialization === 'spread') return spreadHole(position, '&', taken)
  if (serialization !== 'brackets') return separatedHole(position, serialization)
  const options = { separator: '&', encode: position.encode, maxChars: maxCharsOf(kind) }
  const keys = { encoded: key, decoded: decodeKey(key) }
  return holeOfList(position, 'brackets', [REJECTED_KEYS, 'have a key with [ or ]'], value =>
    isJsonObject(value) ? serializeBrackets(value, keys, taken, options) : undefined,
  )
}

/** A list in the path. `separator` is that of `spread`, and `key` the one in front of `repeat`. */
export const pathListHole = (
  serialization: Exclude<ListSerialization, 'brackets'>,
  { separator, key, taken }: { separator: string; key: string; taken: KeySet },
): Hole => {
  const hole =
    serialization === 'repeat'
      ? repeatHole(PATH, `;${key}=`)
      : serialization === 'spread'
        ? spreadHole(PATH, separator, taken)
        : separatedHole(PATH, serialization)
  return {
    ...hole,
    encode: value => {
      const text = hole.encode(value)
      return text === '' || text === '.' || text === '..' ? undefined : text
    },
    refusal: `${hole.refusal}, and must not become empty, "." or ".." in the path of the URL`,
  }
}

/** A string that keeps its slashes. Each of its segments must be one that stays where it is in the path. */
export const segmentsHole: Hole = {
  kind: 'path',
  encode: value => {
    const segments = typeof value === 'string' ? value.split('/') : ['']
    const isSafe = segments.every(segment => segment !== '' && segment !== '.' && segment !== '..')
    return isSafe ? segments.map(percentEncode).join('/') : undefined
  },
  refusal: 'must consist of segments such as a/b/c, none of them empty, "." or ".."',
  whenMissing: undefined,
}

/** A list in a header. */
export const headerListHole = (serialization: SeparatedSerialization | 'spread', taken: KeySet): Hole =>
  serialization === 'spread' ? spreadHole(HEADER_PAIRS, ',', taken) : separatedHole(HEADER, serialization)

/** A list in the Cookie header. `key` is the name of the cookie, and `taken` are the names of the others. */
export const cookieListHole = (
  serialization: Exclude<ListSerialization, 'brackets'>,
  key: string,
  taken: KeySet,
): Hole => {
  if (serialization === 'repeat') return repeatHole(COOKIE, `; ${key}=`)
  return serialization === 'spread' ? spreadHole(COOKIE, '; ', taken) : separatedHole(COOKIE, serialization)
}

/** A list in the content of a part. `before` is the text from the end of the part's content to that of the next one. */
export const multipartListHole = (
  serialization: SeparatedSerialization | 'repeat',
  { before, boundaries }: { before: string; boundaries: readonly string[] },
): Hole => {
  const position = multipart(boundaries)
  return serialization === 'repeat' ? repeatHole(position, before) : separatedHole(position, serialization)
}
