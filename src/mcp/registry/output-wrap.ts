import { isJsonObject, type JsonObject, type JsonValue, NAMED_SCHEMAS } from '../kernel/index.ts'

/** Keywords whose value is data, not a schema: a `$ref` in it is just a member of that name. */
const DATA_KEYWORDS: ReadonlySet<string> = new Set(['const', 'enum', 'default', 'examples'])
const ROOT = '#/properties/result'

/** A fragment alone is the old way to write an anchor; any other `$id` is a base that pointers below refer to. */
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
 * An output schema whose root is no object as the versions before 2026-07-28 can take it: as the member `result`
 * of one, its pointers into itself moved along.
 */
export const wrapOutputSchema = (schema: JsonObject): JsonObject => ({
  ...(typeof schema.$schema === 'string' ? { $schema: schema.$schema } : {}),
  type: 'object',
  properties: { result: moveSchema(schema) },
  required: ['result'],
})
