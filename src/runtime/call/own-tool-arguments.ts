import { isJsonObject, type JsonObject, type JsonValue } from '../../lib/kernel/json.ts'
import { failure, type Result, success } from '../../lib/kernel/result.ts'
import { listNames, quoteName } from './group-texts.ts'

/** Builds the input schema of one of Patchbay's own tools. */
export const objectSchema = (properties: JsonObject, required: string[]): JsonObject => ({
  type: 'object',
  properties,
  required,
  additionalProperties: false,
})

export const TOOLS_OUTPUT: JsonObject = {
  type: 'object',
  properties: { tools: { type: 'array', items: { type: 'object' } } },
  required: ['tools'],
}

/** Checks that the arguments of one of Patchbay's own tools are an object with known members only. */
export const checkArguments = (given: JsonValue | undefined, known: readonly string[]): Result<JsonObject, string> => {
  if (!isJsonObject(given)) return failure('The arguments must be an object.')
  const unknown = Object.keys(given).find(key => !known.includes(key))
  if (unknown === undefined) return success(given)
  return failure(`There is no parameter ${quoteName(unknown)}. ${listNames('The parameters', known)}`)
}

export const readText = (given: JsonObject, key: string, hint: string): Result<string, string> => {
  const value = given[key]
  if (typeof value === 'string') return success(value)
  return failure(`"${key}" is ${value === undefined ? 'missing' : 'not a string'}. ${hint}`)
}

/** Reads the arguments for the inner tool from the arguments of a tool that calls it. */
export const readInnerArguments = (given: JsonObject, key: string): Result<JsonObject, string> => {
  const inner = given[key]
  // Models send null for arguments they omit.
  if (inner === undefined || inner === null) return success({})
  return isJsonObject(inner) ? success(inner) : failure(`"${key}" must be an object with the arguments of the tool.`)
}
