import { isDeepStrictEqual } from 'node:util'
import { isJsonObject, type JsonObject, type JsonValue } from '../../lib/kernel/json.ts'
import { toList, toObject } from '../openapi/nodes.ts'
import { matchesPattern } from './keywords.ts'

/** Characters as JSON Schema counts them: code points. */
const lengthOf = (text: string): number => [...text].length

const TYPES: Readonly<Record<string, (value: JsonValue) => boolean>> = {
  string: value => typeof value === 'string',
  integer: Number.isInteger,
  number: value => typeof value === 'number',
  boolean: value => typeof value === 'boolean',
  array: Array.isArray,
  object: isJsonObject,
  null: value => value === null,
}

const isWithin = (value: number, least: JsonValue | undefined, most: JsonValue | undefined): boolean =>
  !(typeof least === 'number' && value < least) && !(typeof most === 'number' && value > most)

const fitsText = (value: string, { minLength, maxLength, pattern }: JsonObject): boolean =>
  isWithin(lengthOf(value), minLength, maxLength) && (typeof pattern !== 'string' || matchesPattern(pattern, value))

const fitsNumber = (value: number, schema: JsonObject): boolean => {
  const { minimum, maximum, exclusiveMinimum, exclusiveMaximum, multipleOf } = schema
  const isStep = typeof multipleOf !== 'number' || Number.isInteger(value / multipleOf)
  const isInside = value !== exclusiveMinimum && value !== exclusiveMaximum
  return isStep && isInside && isWithin(value, minimum, maximum) && isWithin(value, exclusiveMinimum, exclusiveMaximum)
}

const fitsList = (value: readonly JsonValue[], { items, minItems, maxItems, uniqueItems }: JsonObject): boolean =>
  isWithin(value.length, minItems, maxItems) &&
  (uniqueItems !== true || new Set(value.map(item => JSON.stringify(item))).size === value.length) &&
  value.every(item => fitsSchema(item, toObject(items)))

const fitsObject = (value: JsonObject, { properties, required, additionalProperties, ...schema }: JsonObject) => {
  const known = toObject(properties)
  return (
    toList(required).every(name => typeof name === 'string' && Object.hasOwn(value, name)) &&
    isWithin(Object.keys(value).length, schema.minProperties, schema.maxProperties) &&
    Object.entries(value).every(([name, member]) =>
      fitsSchema(member, toObject(Object.hasOwn(known, name) ? known[name] : additionalProperties)),
    )
  )
}

/**
 * Returns whether a value fits a schema that `createSchemaReader` has written. Knows only the keywords that it writes:
 * compiling each schema for one example would take longer than the whole import.
 */
export const fitsSchema = (value: JsonValue, schema: JsonObject): boolean => {
  const { type, enum: allowed, anyOf } = schema
  if (typeof type === 'string' && TYPES[type]?.(value) !== true) return false
  if (Array.isArray(allowed) && !allowed.some(one => isDeepStrictEqual(one, value))) return false
  if (Array.isArray(anyOf) && !anyOf.some(one => fitsSchema(value, toObject(one)))) return false
  if (typeof value === 'string') return fitsText(value, schema)
  if (typeof value === 'number') return fitsNumber(value, schema)
  if (Array.isArray(value)) return fitsList(value, schema)
  return !isJsonObject(value) || fitsObject(value, schema)
}
