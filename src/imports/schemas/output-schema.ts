import { isJsonObject, type JsonObject, type JsonValue } from '../../lib/kernel/json.ts'
import { MAX_OUTPUT_SCHEMA_CHARS } from '../limits.ts'
import { toList, toObject } from '../openapi/nodes.ts'

/** Levels to try, until the schema is short enough. */
const LEVELS = [8, 5, 4, 3, 2, 1] as const

/** Allows null too: APIs send it where their descriptions do not say so. */
const withNull = (schema: JsonObject): JsonObject => {
  if (typeof schema.type === 'string') return { ...schema, type: [schema.type, 'null'] }
  if (Array.isArray(schema.anyOf)) return { ...schema, anyOf: [...schema.anyOf, { type: 'null' }] }
  return schema
}

/** Keeps what a response has, and drops what it must have: a call must not fail because a description is not exact. */
const loosen = (schema: JsonValue | undefined, levels: number, hasTexts: boolean): JsonObject => {
  const { type, description, properties, items, anyOf, additionalProperties } = toObject(schema)
  const isOpen = levels > 0
  const inner = (value: JsonValue): JsonObject => withNull(loosen(value, levels - 1, hasTexts))
  const members = Object.entries(toObject(properties)).map(([name, member]) => [name, inner(member)] as const)
  return {
    ...(type !== undefined && { type }),
    ...(hasTexts && description !== undefined && { description }),
    ...(isOpen && members.length > 0 && { properties: Object.fromEntries(members) }),
    ...(isOpen && isJsonObject(additionalProperties) && { additionalProperties: inner(additionalProperties) }),
    ...(type === 'array' && { items: isOpen ? inner(items ?? {}) : {} }),
    ...(isOpen && anyOf !== undefined && { anyOf: toList(anyOf).map(one => loosen(one, levels - 1, hasTexts)) }),
  }
}

/**
 * Returns an output schema to propose for a response of this schema: without `required`, enums, formats and limits, every
 * member nullable, and at most 8 KiB of JSON. Undefined if the response is not an object, which MCP requires.
 */
export const proposeOutputSchema = (schema: JsonObject): JsonObject | undefined => {
  if (schema.type !== 'object' || Object.keys(toObject(schema.properties)).length === 0) return undefined
  for (const levels of LEVELS) {
    for (const hasTexts of [true, false]) {
      const proposal = loosen(schema, levels, hasTexts)
      if (JSON.stringify(proposal).length <= MAX_OUTPUT_SCHEMA_CHARS) return proposal
    }
  }
  return undefined
}
