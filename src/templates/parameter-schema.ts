import { isJsonObject, type JsonObject, type JsonValue } from '../lib/kernel/json.ts'
import { NAMED_SCHEMAS, SUBSCHEMAS } from '../lib/kernel/json-schema.ts'
import { castValue, EXPECTED, type ParameterMeta } from './check-value.ts'
import { describeTypes, type ListType } from './lists/serialize.ts'
import type { ParameterType } from './template.ts'

/** The types in JSON Schema that have values in common with a parameter's type. */
const SHARED_TYPES: Readonly<Record<Exclude<ParameterType, 'json'>, readonly JsonValue[]>> = {
  string: ['string'],
  integer: ['integer', 'number'],
  number: ['integer', 'number'],
  boolean: ['boolean'],
  url: ['string'],
}

/** Keywords that name a schema or refer by name. Names would have to be unique among all parameters of a tool. */
const NAMING: ReadonlySet<string> = new Set([
  '$id',
  '$anchor',
  '$dynamicAnchor',
  '$dynamicRef',
  // A keyword of draft 2019-09. Ajv resolves it to the root, which is the schema of all parameters.
  '$recursiveRef',
])

/** Rules that a parameter can have without a schema. */
const RULES = ['enum', 'minimum', 'maximum', 'pattern'] as const

/** Replaces every object that is a schema, from the root inwards. Values that only look like schemas stay. */
const mapSchemas = (schema: JsonValue, change: (schema: JsonObject) => JsonObject): JsonValue => {
  if (Array.isArray(schema)) return schema.map(item => mapSchemas(item, change))
  if (!isJsonObject(schema)) return schema
  const members = Object.entries(change(schema)).map(([keyword, value]): [string, JsonValue] => {
    if (SUBSCHEMAS.has(keyword)) return [keyword, mapSchemas(value, change)]
    if (!NAMED_SCHEMAS.has(keyword) || !isJsonObject(value)) return [keyword, value]
    const named = Object.entries(value).map(([name, one]) => [name, mapSchemas(one, change)] as const)
    return [keyword, Object.fromEntries(named)]
  })
  return Object.fromEntries(members)
}

const findNaming = (schema: JsonObject): string | undefined => {
  let found: string | undefined
  mapSchemas(schema, one => {
    found ??= Object.keys(one).find(keyword => NAMING.has(keyword))
    const { $ref } = one
    if (typeof $ref === 'string' && !/^#(?:\/|$)/.test($ref)) found ??= '$ref'
    return one
  })
  return found
}

const refuseType = (type: ParameterType, { type: declared, enum: values, const: value }: JsonObject) => {
  if (type === 'json') return undefined
  const shared = SHARED_TYPES[type]
  const types = Array.isArray(declared) ? declared : [declared ?? shared[0] ?? null]
  const mistyped = `the schema accepts no value of this parameter's type: ${type} in the template, but`
  if (!types.some(one => shared.includes(one))) return `${mistyped} ${types.join(' or ')} in the schema`
  const allowed = value === undefined ? values : [value]
  const fits = (one: JsonValue): boolean => {
    const cast = castValue(type, one)
    return cast.ok && cast.value === one
  }
  if (!Array.isArray(allowed) || allowed.some(fits)) return undefined
  return `${mistyped} no value of ${value === undefined ? 'enum' : 'const'} in the schema is ${EXPECTED[type]}`
}

const refuseListType = (accepted: readonly ListType[], { type: declared }: JsonObject): string | undefined => {
  const types = [declared].flat()
  if (declared === undefined || accepted.some(one => types.includes(one))) return undefined
  return `the schema accepts no value of this parameter: ${describeTypes(accepted)} in the template, but ${types.join(' or ')} in the schema`
}

/**
 * Returns why a parameter cannot have its schema, apart from faults that show only when the schema is compiled.
 * `accepted` are the types that its serializations accept.
 */
export const refuseSchema = (
  type: ParameterType,
  { schema = {}, ...meta }: ParameterMeta,
  accepted?: readonly ListType[] | undefined,
): string | undefined => {
  const naming = findNaming(schema)
  if (naming === '$ref')
    return 'the schema has a "$ref" that does not start with "#/". Define what it refers to in "$defs"'
  if (naming !== undefined)
    return `the schema has "${naming}". Define what you refer to in "$defs", and refer to it as "#/$defs/…"`
  const repeated = RULES.find(rule => meta[rule] !== undefined && Object.hasOwn(schema, rule))
  if (repeated !== undefined) return `the schema and the parameter both have "${repeated}". Remove one of them`
  return accepted === undefined ? refuseType(type, schema) : refuseListType(accepted, schema)
}

/** Returns a parameter's schema as a property of the tool's input schema. Its references start at the new root. */
export const embedSchema = ({ $schema: _dialect, ...schema }: JsonObject, name: string): JsonObject => {
  const embedded = mapSchemas(schema, ({ $ref, ...rest }) =>
    typeof $ref === 'string' ? { $ref: `#/properties/${name}${$ref.slice(1)}`, ...rest } : rest,
  )
  return isJsonObject(embedded) ? embedded : {}
}

type WithSchema = { parameter: { name: string }; meta: ParameterMeta }

/** Returns the JSON Schema of an object with these parameters, or undefined if none of them has a schema. */
export const schemaOfParameters = (parameters: readonly WithSchema[]): JsonObject | undefined => {
  const properties = parameters.flatMap(({ parameter: { name }, meta: { schema } }) =>
    schema === undefined ? [] : [[name, embedSchema(schema, name)] as const],
  )
  return properties.length === 0 ? undefined : { type: 'object', properties: Object.fromEntries(properties) }
}
