import { isDeepStrictEqual } from 'node:util'
import { RE2JS } from 're2js'
import { type JsonObject, type JsonValue, parseJson } from '../lib/kernel/json.ts'
import { MAX_JSON_DEPTH } from '../lib/kernel/limits.ts'
import { failure, type Result, success } from '../lib/kernel/result.ts'
import { isDoneWithin } from '../lib/process/time-limit.ts'
import { parseHttpUrl } from './base-url.ts'
import { FREE_PATTERN_STEPS, MAX_LISTED_ENUM_VALUES, MAX_MATCH_MS, MAX_PATTERN_INPUT_CHARS } from './limits.ts'
import { describeTypes, isOneOf, type ListType } from './lists/serialize.ts'
import type { ParameterType } from './template.ts'

/**
 * The expected and the received value in words, for `must be …, got …`. Never contains the value, which may be secret.
 */
export type Mismatch = { expected: string; got: string }

/**
 * The source of a value: JSON from the caller, or text (a default, a global or a fixed value). The source matters only
 * for `json` parameters, which parse text but leave a caller's string as it is.
 */
export type ValueSource = 'caller' | 'text'

export const EXPECTED: Readonly<Record<ParameterType, string>> = {
  string: 'a string',
  integer: 'an integer',
  number: 'a number',
  boolean: 'true or false',
  json: 'JSON',
  url: 'an absolute http or https URL without credentials',
}

const describeValue = (value: JsonValue): string => {
  if (value === null) return 'null'
  if (Array.isArray(value)) return 'an array'
  return typeof value === 'object' ? 'an object' : `a ${typeof value}`
}

const INTEGER = /^-?(?:0|[1-9]\d*)$/
const NUMBER = /^-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?$/

type Cast = (value: JsonValue) => JsonValue | undefined

/** Parses a number in JSON syntax. Ignores surrounding blanks. Returns undefined if the number would lose digits. */
const numberOf = (value: JsonValue): number | undefined => {
  if (typeof value === 'number') return Number.isFinite(value) ? value : undefined
  if (typeof value !== 'string') return undefined
  const text = value.trim()
  if (!NUMBER.test(text)) return undefined
  const number = Number(text)
  if (INTEGER.test(text) && !Number.isSafeInteger(number)) return undefined
  return Number.isFinite(number) ? number : undefined
}

const integerOf = (value: JsonValue): number | undefined => {
  if (typeof value === 'string' && !INTEGER.test(value.trim())) return undefined
  const number = numberOf(value)
  return Number.isSafeInteger(number) ? number : undefined
}

const booleanOf = (value: JsonValue): boolean | undefined => {
  if (typeof value === 'boolean') return value
  const text = typeof value === 'string' ? value.trim() : ''
  return text === 'true' ? true : text === 'false' ? false : undefined
}

/** Returns whether JSON.parse may have rounded the number, which is then an unsafe integer or infinite. */
const hasLostDigits = (value: number): boolean =>
  !Number.isFinite(value) || (Number.isInteger(value) && !Number.isSafeInteger(value))

const stringOf = (value: JsonValue): string | undefined => {
  if (typeof value === 'string') return value
  if (typeof value === 'number' && hasLostDigits(value)) return undefined
  return typeof value === 'number' || typeof value === 'boolean' ? JSON.stringify(value) : undefined
}

const urlOf = (value: JsonValue): string | undefined =>
  typeof value === 'string' && parseHttpUrl(value) !== undefined ? value : undefined

const CASTS: Readonly<Record<Exclude<ParameterType, 'json'>, Cast>> = {
  string: stringOf,
  integer: integerOf,
  number: numberOf,
  boolean: booleanOf,
  url: urlOf,
}

/** Describes the received value if its type alone does not explain the mismatch. */
const describeMismatch = (type: ParameterType, value: JsonValue): string => {
  if (typeof value === 'number') {
    if (!Number.isFinite(value)) return 'a number that is too large'
    if (type === 'string') return 'an integer beyond ±9007199254740991, which would lose digits (send it as a string)'
    if (type === 'integer') {
      return Number.isInteger(value) ? 'an integer beyond ±9007199254740991' : 'a number with a fraction'
    }
  }
  if (typeof value === 'string') return type === 'json' ? 'a string that is not JSON' : 'a string that is not one'
  return describeValue(value)
}

/**
 * Casts a value to a parameter's type if no information is lost: `"42"` becomes the integer 42, 1 becomes the string
 * `"1"`, but `"007"` is not a number. URLs are left unchanged.
 */
export const castValue = (
  type: ParameterType,
  value: JsonValue,
  from: ValueSource = 'caller',
): Result<JsonValue, Mismatch> => {
  if (type === 'json') {
    if (typeof value === 'number' && !Number.isFinite(value)) {
      return failure({ expected: EXPECTED.json, got: describeMismatch('json', value) })
    }
    if (from === 'caller' || typeof value !== 'string') return success(value)
    const parsed = parseJson(value, MAX_JSON_DEPTH)
    return parsed.ok ? parsed : failure({ expected: EXPECTED.json, got: describeMismatch('json', value) })
  }
  const cast = CASTS[type](value)
  return cast === undefined ? failure({ expected: EXPECTED[type], got: describeMismatch(type, value) }) : success(cast)
}

/**
 * The binding of instances that do not bind the parameter themselves: a fixed value, which may contain `{{global}}`, or
 * the server's global or secret with this key.
 */
export type DefaultBinding =
  | { source: 'instance'; value: JsonValue }
  | { source: 'server'; key: string; secret: boolean }

/** Returns the key of the secret that a parameter is bound to by default, or undefined if it is not bound to one. */
export const secretKeyOf = (binding: DefaultBinding | undefined): string | undefined =>
  binding?.source === 'server' && binding.secret ? binding.key : undefined

/** What a builder declares about a parameter in addition to its type. */
export type ParameterMeta = {
  description?: string | undefined
  enum?: JsonValue[] | undefined
  default?: JsonValue | undefined
  example?: JsonValue | undefined
  minimum?: number | undefined
  maximum?: number | undefined
  /** Matches anywhere in the text (JSON Schema 2020-12 §6.3.3). Must be valid in both RE2 and ECMAScript. */
  pattern?: string | undefined
  /** JSON Schema 2020-12 of the value. Arguments of the model are checked against it, after they are cast. */
  schema?: JsonObject | undefined
  binding?: DefaultBinding | undefined
}

/** Casts a value and checks it against its parameter's metadata. The error never contains the value. */
export type ParameterCheck = (value: JsonValue, from?: ValueSource) => Result<JsonValue, Mismatch>

/** Checks a rule other than the type. Returns undefined if the cast value satisfies the rule. */
type Rule = (value: JsonValue) => Mismatch | undefined

const enumRule = (allowed: readonly JsonValue[]): Rule => {
  const listed = allowed.slice(0, MAX_LISTED_ENUM_VALUES).map(value => JSON.stringify(value))
  const more = allowed.length - listed.length
  const expected = `one of ${listed.join(', ')}${more > 0 ? ` and ${more} more` : ''}`
  const mismatch = { expected, got: 'another value' }
  return value => (allowed.some(candidate => isDeepStrictEqual(candidate, value)) ? undefined : mismatch)
}

const rangeRules = (type: ParameterType, { minimum, maximum }: ParameterMeta): readonly Rule[] => {
  const below = { expected: `${EXPECTED[type]} of at least ${minimum}`, got: 'a smaller value' }
  const above = { expected: `${EXPECTED[type]} of at most ${maximum}`, got: 'a greater value' }
  return [
    value => (minimum !== undefined && typeof value === 'number' && value < minimum ? below : undefined),
    value => (maximum !== undefined && typeof value === 'number' && value > maximum ? above : undefined),
  ]
}

/** Creates a function that returns whether a text matches the pattern, or undefined if matching takes too long. */
const createMatch = (source: string): ((text: string) => boolean | undefined) => {
  let pattern = RE2JS.compile(source)
  return text => {
    if (text.length * pattern.programSize() <= FREE_PATTERN_STEPS) return pattern.test(text)
    let found: boolean | undefined
    const match = (): void => {
      found = pattern.test(text)
    }
    // Interrupting a matcher may leave its tables half-updated.
    const reset = (): void => {
      pattern = RE2JS.compile(source)
    }
    if (!isDoneWithin(MAX_MATCH_MS, match, reset)) reset()
    return found
  }
}

/** Matches in bounded time, because both patterns and values come from untrusted users. */
const patternRule = (source: string): Rule => {
  const match = createMatch(source)
  const expected = `a string that matches ${source}`
  const tooLong = { expected: `a string of at most ${MAX_PATTERN_INPUT_CHARS} characters`, got: 'a longer string' }
  const unlike = { expected, got: 'a string that does not' }
  const tooSlow = { expected, got: 'a string that takes too long to match' }
  return value => {
    if (typeof value !== 'string') return undefined
    if (value.length > MAX_PATTERN_INPUT_CHARS) return tooLong
    const isMatch = match(value)
    if (isMatch === undefined) return tooSlow
    return isMatch ? undefined : unlike
  }
}

const rulesOf = (type: ParameterType, meta: ParameterMeta): readonly Rule[] => [
  ...(meta.enum === undefined ? [] : [enumRule(meta.enum)]),
  ...rangeRules(type, meta),
  ...(meta.pattern === undefined ? [] : [patternRule(meta.pattern)]),
]

/** Returns what a parameter must be, as in `must be an array`. `accepted` are the types of its lists, if it has any. */
export const expectedOf = (type: ParameterType, accepted: readonly ListType[] | undefined): string =>
  accepted === undefined ? EXPECTED[type] : describeTypes(accepted)

/** Casts to an array or object. Parses the strings that some models send instead. */
const castList = (accepted: readonly ListType[], value: JsonValue): Result<JsonValue, Mismatch> => {
  const cast = castValue('json', value, 'text')
  if (cast.ok && (cast.value === null || isOneOf(cast.value, accepted))) return cast
  return failure({ expected: describeTypes(accepted), got: describeValue(cast.ok ? cast.value : value) })
}

/** Casts a value to a parameter's type. `accepted` are the types that its serializations accept. */
export const castAs = (
  type: ParameterType,
  accepted: readonly ListType[] | undefined,
  value: JsonValue,
  from: ValueSource = 'caller',
): Result<JsonValue, Mismatch> => (accepted === undefined ? castValue(type, value, from) : castList(accepted, value))

/**
 * Creates the check of a parameter whose metadata is valid (`compileParameters`). `accepted` are the types that its
 * serializations accept.
 */
export const checkFor = (
  type: ParameterType,
  meta: ParameterMeta,
  accepted?: readonly ListType[] | undefined,
): ParameterCheck => {
  let rules: readonly Rule[] | undefined
  return (value, from = 'caller') => {
    const cast = castAs(type, accepted, value, from)
    if (!cast.ok) return cast
    // Built when the first value arrives, because most tools of a server are never called.
    rules ??= rulesOf(type, meta)
    for (const rule of rules) {
      const mismatch = rule(cast.value)
      if (mismatch !== undefined) return failure(mismatch)
    }
    return cast
  }
}
