import { isJsonObject, type JsonObject, type JsonValue } from '../../lib/kernel/json.ts'
import { NAMED_SCHEMAS } from '../../lib/kernel/json-schema.ts'

/** Keywords whose value is data, not a schema. A `$ref` in such a value is not a reference. */
const DATA_KEYWORDS: ReadonlySet<string> = new Set(['const', 'enum', 'default', 'examples'])

/**
 * Whether the schema has an `$id` that changes the base of the pointers inside it. A bare fragment does not, because it
 * is the old form of an anchor.
 */
const isBase = (schema: JsonObject): boolean => typeof schema.$id === 'string' && !schema.$id.startsWith('#')

const moveReference = (pointer: JsonValue, to: string): JsonValue => {
  if (typeof pointer !== 'string') return pointer
  if (pointer === '#') return to
  return pointer.startsWith('#/') ? `${to}${pointer.slice(1)}` : pointer
}

const moveNamed = (map: JsonValue, to: string): JsonValue =>
  isJsonObject(map)
    ? Object.fromEntries(Object.entries(map).map(([name, schema]) => [name, moveAny(schema, to)]))
    : moveAny(map, to)

const moveAny = (schema: JsonValue, to: string): JsonValue => {
  if (Array.isArray(schema)) return schema.map(one => moveAny(one, to))
  return isJsonObject(schema) ? moveSchema(schema, to) : schema
}

/** Adjusts the pointers in a schema that becomes a part of another one. `to` is its place there, as `#/properties/a`. */
export const moveSchema = (schema: JsonObject, to: string): JsonObject => {
  if (isBase(schema)) return schema
  return Object.fromEntries(
    Object.entries(schema).map(([keyword, value]) => {
      if (keyword === '$ref' || keyword === '$dynamicRef') return [keyword, moveReference(value, to)]
      if (DATA_KEYWORDS.has(keyword)) return [keyword, value]
      return [keyword, NAMED_SCHEMAS.has(keyword) ? moveNamed(value, to) : moveAny(value, to)]
    }),
  )
}
