import type { JsonObject } from '../../lib/kernel/json.ts'
import { moveSchema } from '../../tools/schemas/move-schema.ts'

/**
 * Wraps an output schema for versions before 2026-07-28, which require an object at the root. The
 * schema becomes the property `result`, and its internal pointers are adjusted.
 */
export const wrapOutputSchema = (schema: JsonObject): JsonObject => ({
  ...(typeof schema.$schema === 'string' ? { $schema: schema.$schema } : {}),
  type: 'object',
  properties: { result: moveSchema(schema, '#/properties/result') },
  required: ['result'],
})
