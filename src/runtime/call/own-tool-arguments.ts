import { failure, isJsonObject, type JsonObject, type JsonValue, type Result, success } from '../kernel/index.ts'
import { listNames, quoteName } from './group-texts.ts'

/** The schema of what one of our own tools takes. */
export const objectSchema = (properties: JsonObject, required: string[]): JsonObject => ({
  type: 'object',
  properties,
  required,
  additionalProperties: false,
})

/** What a tool answers whose structured content is the tools that it lists. */
export const TOOLS_OUTPUT: JsonObject = {
  type: 'object',
  properties: { tools: { type: 'array', items: { type: 'object' } } },
  required: ['tools'],
}

/** The arguments of one of our own tools, where they are an object of what it takes. */
export const checkArguments = (given: JsonValue | undefined, known: readonly string[]): Result<JsonObject, string> => {
  if (!isJsonObject(given)) return failure('The arguments must be an object.')
  const unknown = Object.keys(given).find(key => !known.includes(key))
  if (unknown === undefined) return success(given)
  return failure(`There is no parameter ${quoteName(unknown)}. ${listNames('The parameters', known)}`)
}

export const readText = (given: JsonObject, key: string, hint: string): Result<string, string> => {
  const value = given[key]
  if (typeof value === 'string') return success(value)
  return failure(`"${key}" is ${value === undefined ? 'missing' : 'no string'}. ${hint}`)
}

/** The arguments for another tool, which one of ours calls. */
export const readInnerArguments = (given: JsonObject, key: string): Result<JsonObject, string> => {
  const inner = given[key]
  // Models send null for what they leave out.
  if (inner === undefined || inner === null) return success({})
  return isJsonObject(inner)
    ? success(inner)
    : failure(`"${key}" must be an object: the arguments of the tool by name.`)
}
