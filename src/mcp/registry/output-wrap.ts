import { isJsonObject, type JsonObject, type JsonValue } from '../../lib/kernel/json.ts'
import { NAMED_SCHEMAS } from '../../lib/kernel/json-schema.ts'

/** Keywords whose value is data, not a schema. A `$ref` in such a value is not a reference. */
const DATA_KEYWORDS: ReadonlySet<string> = new Set(['const', 'enum', 'default', 'examples'])
const ROOT = '#/properties/result'

/**
 * Whether the schema has an `$id` that changes the base of the pointers inside it. A bare fragment does not, because it
 * is the old form of an anchor.
 */
const isBase = (schema: JsonObject): boolean => typeof schema.$id === 'string' && !schema.$id.startsWith('#')

const moveReference = (pointer: JsonValue): JsonValue => {
  if (typeof pointer !== 'string') return pointer
  if (pointer === '#') return ROOT
  return pointer.startsWith('#/') ? `${ROOT}${pointer.slice(1)}` : pointer
}

const moveSchemas = (map: JsonValue): JsonValue =>
  isJsonObject(map)
    ? Object.fromEntries(Object.entries(map).map(([name, schema]) => [name, moveSchema(schema)]))
    : moveSchema(map)

const moveSchema = (schema: JsonValue): JsonValue => {
  if (Array.isArray(schema)) return schema.map(moveSchema)
  if (!isJsonObject(schema) || isBase(schema)) return schema
  return Object.fromEntries(
    Object.entries(schema).map(([keyword, value]) => {
      if (keyword === '$ref' || keyword === '$dynamicRef') return [keyword, moveReference(value)]
      if (DATA_KEYWORDS.has(keyword)) return [keyword, value]
      return [keyword, NAMED_SCHEMAS.has(keyword) ? moveSchemas(value) : moveSchema(value)]
    }),
  )
}

/**
 * Wraps an output schema for versions before 2026-07-28, which require an object at the root. The
 * schema becomes the property `result`, and its internal pointers are adjusted.
 */
export const wrapOutputSchema = (schema: JsonObject): JsonObject => ({
  ...(typeof schema.$schema === 'string' ? { $schema: schema.$schema } : {}),
  type: 'object',
  properties: { result: moveSchema(schema) },
  required: ['result'],
})
