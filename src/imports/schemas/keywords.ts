import { RE2JS } from 're2js'
import type { JsonObject, JsonValue } from '../../lib/kernel/json.ts'
import { MAX_PATTERN_CHARS, MAX_PATTERN_INSTRUCTIONS } from '../../templates/limits.ts'
import { estimateInstructions } from '../../tools/schemas/pattern-size.ts'
import { MAX_PARAMETER_TEXT_CHARS } from '../limits.ts'
import { jsonLengthOf, toList, toText } from '../openapi/nodes.ts'
import { holdsSecret, plainText } from '../openapi/texts.ts'

const TYPES: ReadonlySet<string> = new Set(['string', 'integer', 'number', 'boolean', 'array', 'object'])

/** Formats of JSON Schema, which tell models something. `int32`, `double`, `password` and the like do not. */
const FORMATS: ReadonlySet<string> = new Set(
  'date-time date time duration email idn-email hostname ipv4 ipv6 uri uri-reference iri uuid uri-template regex'.split(
    ' ',
  ),
)
const COUNTS = ['minLength', 'maxLength', 'minItems', 'maxItems', 'minProperties', 'maxProperties'] as const
const BOUNDS = ['minimum', 'maximum', 'exclusiveMinimum', 'exclusiveMaximum'] as const
/** Longer lists cost more tokens than a model can make use of. */
const MAX_ENUM_VALUES = 500
/** Longer lists are not read: even without those that are there twice, they have too many values. */
const MAX_READ_VALUES = 5_000

/** Patterns that are more expensive to compile than this are left out, as those that RE2 cannot read. */
const compilePattern = (pattern: string): RE2JS | undefined => {
  if (pattern.length > MAX_PATTERN_CHARS) return undefined
  if (estimateInstructions(pattern) > MAX_PATTERN_INSTRUCTIONS * 4) return undefined
  try {
    const compiled = RE2JS.compile(pattern)
    return compiled.programSize() <= MAX_PATTERN_INSTRUCTIONS ? compiled : undefined
  } catch {
    return undefined
  }
}

/** Descriptions have few different patterns, often that of an id, and compiling one takes longer than the rest of a schema. */
const MAX_KNOWN_PATTERNS = 200
const knownPatterns = new Map<string, RE2JS | undefined>()

const findPattern = (pattern: string): RE2JS | undefined => {
  if (knownPatterns.has(pattern)) return knownPatterns.get(pattern)
  const compiled = compilePattern(pattern)
  if (knownPatterns.size < MAX_KNOWN_PATTERNS) knownPatterns.set(pattern, compiled)
  return compiled
}

/** Returns whether a pattern matches anywhere in a text, in linear time. */
export const matchesPattern = (pattern: string, text: string): boolean => findPattern(pattern)?.test(text) === true

/** Returns a value of an enum as the type that the schema declares, such as `"1"` for 1. Undefined if it has another. */
const toDeclaredType = (value: JsonValue, type: string | undefined): JsonValue | undefined => {
  if (type === 'string')
    return typeof value === 'number' || typeof value === 'boolean' ? String(value) : textOnly(value)
  if (type === 'integer' || type === 'number') {
    const number = typeof value === 'string' && value.trim() !== '' ? Number(value) : value
    return typeof number === 'number' && (type === 'number' || Number.isInteger(number)) ? number : undefined
  }
  if (type === 'boolean') return typeof value === 'boolean' ? value : undefined
  return value
}

const textOnly = (value: JsonValue): JsonValue | undefined => (typeof value === 'string' ? value : undefined)

const readEnum = (schema: JsonObject, type: string | undefined): readonly JsonValue[] => {
  const values = schema.const === undefined ? toList(schema.enum) : [schema.const]
  if (values.length > MAX_READ_VALUES) return []
  const allowed = values.flatMap(value => (value === null ? [] : (toDeclaredType(value, type) ?? [])))
  const distinct = new Map(allowed.map(value => [JSON.stringify(value), value]))
  // Without one of its values, the list would refuse what the API accepts.
  return distinct.size > MAX_ENUM_VALUES || [...distinct.keys()].some(holdsSecret) ? [] : [...distinct.values()]
}

const readNumbers = (schema: JsonObject): JsonObject => {
  const counts = COUNTS.flatMap(key => {
    const value = schema[key]
    return typeof value === 'number' && Number.isSafeInteger(value) && value >= 0 ? [[key, value] as const] : []
  })
  const bounds = BOUNDS.flatMap(key => {
    const value = schema[key]
    return typeof value === 'number' && Number.isFinite(value) ? [[key, value] as const] : []
  })
  const { multipleOf } = schema
  const isStep = typeof multipleOf === 'number' && Number.isFinite(multipleOf) && multipleOf > 0
  return Object.fromEntries([...counts, ...bounds, ...(isStep ? [['multipleOf', multipleOf] as const] : [])])
}

/** Returns a default, unless it has another type or looks like a secret. */
const readDefault = ({ default: value, format }: JsonObject, type: string | undefined): JsonValue | undefined => {
  if (value === undefined || value === null || format === 'password') return undefined
  if (jsonLengthOf(value) > MAX_PARAMETER_TEXT_CHARS) return undefined
  if (holdsSecret(JSON.stringify(value))) return undefined
  const isList = type === 'array' || type === 'object'
  return isList === (typeof value === 'object') ? toDeclaredType(value, type) : undefined
}

/**
 * Returns the keywords of a schema that are no schemas themselves. Leaves out values that JSON Schema 2020-12 does not
 * allow, so the result is valid whatever the description contains. `type` is the only type that the schema has.
 */
export const readKeywords = (
  schema: JsonObject,
  type: string | undefined,
  { note, maxTextChars }: { note: (text: string) => void; maxTextChars: number },
): JsonObject => {
  const description = plainText(toText(schema.description), maxTextChars)
  const format = toText(schema.format)
  const pattern = toText(schema.pattern)
  const values = readEnum(schema, type)
  const fallback = readDefault(schema, type)
  const isPattern = pattern !== '' && findPattern(pattern) !== undefined
  if (pattern !== '' && !isPattern) note('A pattern that cannot be checked in linear time was left out.')
  return {
    ...(description !== '' && { description }),
    ...(values.length > 0 && { enum: [...values] }),
    ...(fallback !== undefined && { default: fallback }),
    ...(FORMATS.has(format) && { format }),
    ...(isPattern && { pattern }),
    ...(schema.uniqueItems === true && { uniqueItems: true }),
    ...readNumbers(schema),
  }
}

/** Returns the types of a schema, without `null`. Infers the type from other keywords if none is declared. */
export const typesOf = (schema: JsonObject): readonly string[] => {
  if (typeof schema.type === 'string' && TYPES.has(schema.type)) return [schema.type]
  const declared = [schema.type].flat().flatMap(type => (typeof type === 'string' && TYPES.has(type) ? [type] : []))
  if (declared.length > 0) return [...new Set(declared)]
  if (schema.properties !== undefined || schema.additionalProperties !== undefined) return ['object']
  if (schema.items !== undefined) return ['array']
  const values =
    schema.const === undefined
      ? toList(schema.enum)
          .slice(0, MAX_READ_VALUES)
          .filter(value => value !== null)
      : [schema.const]
  const kinds = new Set(values.map(value => typeof value))
  const [kind] = kinds
  return kinds.size === 1 && kind !== undefined && kind !== 'object' ? [kind] : []
}

/** Returns whether a schema allows null. */
export const isNullable = (schema: JsonObject): boolean =>
  [schema.type].flat().includes('null') || schema.nullable === true || toList(schema.enum).includes(null)
