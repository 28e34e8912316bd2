import type { FieldError } from '../../lib/kernel/errors.ts'
import { isJsonObject, type JsonObject, parseJson } from '../../lib/kernel/json.ts'
import { describeJsonFault, findJsonFault } from '../../lib/kernel/json-fault.ts'
import { MAX_JSON_DEPTH } from '../../lib/kernel/limits.ts'

type TypedSchema = { schema: JsonObject | undefined; errors: readonly FieldError[] }

/** Reads a JSON Schema from a text field; an empty field is undefined. `path` is that of the errors. */
export const readTypedSchema = (path: string, text: string): TypedSchema => {
  if (text.trim() === '') return { schema: undefined, errors: [] }
  const refuse = (message: string): TypedSchema => ({ schema: undefined, errors: [{ path, message }] })
  const fault = findJsonFault(text)
  if (fault !== undefined) return refuse(describeJsonFault(fault))
  const parsed = parseJson(text, MAX_JSON_DEPTH)
  if (!parsed.ok) return refuse(parsed.error.message)
  return isJsonObject(parsed.value)
    ? { schema: parsed.value, errors: [] }
    : refuse('a schema must be a JSON object: {…}')
}
