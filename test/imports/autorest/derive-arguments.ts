import type { MappedOperation } from '../../../src/imports/openapi/imported-operation.ts'
import { isJsonObject, type JsonObject, type JsonValue, parseIfJson } from '../../../src/lib/kernel/json.ts'
import { toShownTool } from '../../../src/tools/shown-tool.ts'

/** Descriptions of parameters that name the only value, as a model reads them. */
const NAMED_VALUE = /(?:value|pass in|always|put)\b[^'"]*['"]([^'"]+)['"]/i

/** Returns the value of a parameter if its schema or its description leaves only one. */
const onlyValue = ({ enum: values, description, type }: JsonObject): JsonValue | undefined => {
  if (Array.isArray(values)) return values.length === 1 ? values[0] : undefined
  const [, named] = type === 'string' && typeof description === 'string' ? (NAMED_VALUE.exec(description) ?? []) : []
  return named
}

/** Returns the members of the value that `GET` returns for a path as the arguments for `PUT`, which wants the same. */
const spread = (value: JsonValue | undefined, properties: JsonObject): JsonObject => {
  if (value === undefined) return {}
  if ('body' in properties) return { body: value }
  const members = Object.entries(isJsonObject(value) ? value : {})
  return Object.fromEntries(members.filter(([name, member]) => name in properties && member !== null))
}

/** Asks the server for what it has at a path. Undefined if that is neither JSON nor XML. */
const fetchStored = async (url: string): Promise<JsonValue | undefined> => {
  const text = await (await fetch(url)).text()
  return text.startsWith('<') ? text : parseIfJson(text)
}

/**
 * Returns the arguments for an operation that are known without a table: parameters with only one value, and for `PUT`
 * what the server returns for `GET`, if `origin` is given.
 */
export const deriveArguments = async (
  { tool, method, path }: MappedOperation,
  origin: string | undefined,
): Promise<JsonObject> => {
  const schema = toShownTool(tool).inputSchema
  const properties = isJsonObject(schema.properties) ? schema.properties : {}
  const required = Array.isArray(schema.required) ? schema.required : []
  const values = Object.entries(properties).flatMap(([name, property]): [string, JsonValue][] => {
    const value = isJsonObject(property) && required.includes(name) ? onlyValue(property) : undefined
    return value === undefined ? [] : [[name, value]]
  })
  const stored = origin !== undefined && method === 'PUT' ? await fetchStored(`${origin}${path}`) : undefined
  return { ...Object.fromEntries(values), ...spread(stored, properties) }
}
