import type { JsonObject } from '../../lib/kernel/json.ts'
import { moveSchema } from './move-schema.ts'

/** Keywords at the root that an object without members may violate, besides `required`. */
const DEMANDS = [
  '$ref',
  '$dynamicRef',
  '$recursiveRef',
  'allOf',
  'anyOf',
  'oneOf',
  'not',
  'if',
  'const',
  'enum',
  'minProperties',
] as const

/** Returns whether any members of an object that matches this schema may be left out, except for `required`. */
export const isOpenObject = (schema: JsonObject): boolean =>
  schema.type === 'object' && DEMANDS.every(keyword => schema[keyword] === undefined)

/**
 * Returns an output schema as clients see it. Members of a response that do not match the schema are left out of the
 * structured content (`trimValue`), and a client that checks it must accept what remains: an object without any members
 * at the least. So nothing is required at the root, or the empty object is an alternative.
 */
export const toListedOutputSchema = (schema: JsonObject): JsonObject => {
  if (isOpenObject(schema)) {
    const { required: _required, ...rest } = schema
    return rest
  }
  const isObject = schema.type === 'object'
  return {
    ...(typeof schema.$schema === 'string' && { $schema: schema.$schema }),
    ...(isObject && { type: 'object' }),
    anyOf: [{ ...(!isObject && { type: 'object' }), maxProperties: 0 }, moveSchema(schema, '#/anyOf/1')],
  }
}
