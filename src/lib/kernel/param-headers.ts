import { isJsonObject, type JsonObject, type JsonValue } from './json.ts'

/** A parameter that clients also send as a header so that proxies can route by it (2026-07-28, "x-mcp-header"). */
export type ParamHeader = { path: readonly string[]; header: string; isNumeric: boolean }

const KEY = 'x-mcp-header'
/** RFC 9110 §5.6.2. */
const TOKEN = /^[!#$%&'*+\-.^_`|~0-9A-Za-z]+$/
const TYPES: ReadonlySet<JsonValue | undefined> = new Set(['string', 'integer', 'boolean', 'number'])
/** Shared by all tools that declare no parameter headers. */
const NONE: readonly ParamHeader[] = []

const collect = (schema: JsonObject, path: readonly string[], found: ParamHeader[]): void => {
  const name = schema[KEY]
  if (typeof name === 'string' && TOKEN.test(name) && path.length > 0 && TYPES.has(schema.type)) {
    const isNumeric = schema.type === 'integer' || schema.type === 'number'
    found.push({ path, header: `mcp-param-${name.toLowerCase()}`, isNumeric })
  }
  if (!isJsonObject(schema.properties)) return
  for (const [key, child] of Object.entries(schema.properties)) {
    if (isJsonObject(child)) collect(child, [...path, key], found)
  }
}

/** Returns the parameter headers that a tool's input schema declares, at any depth of `properties`. */
export const paramHeadersOf = (inputSchema: JsonObject): readonly ParamHeader[] => {
  const found: ParamHeader[] = []
  collect(inputSchema, [], found)
  return found.length === 0 ? NONE : found
}

/** Returns the argument at a path, or undefined if there is none. */
export const argumentAt = (root: JsonValue | undefined, path: readonly string[]): JsonValue | undefined => {
  let value = root
  for (const key of path) value = isJsonObject(value) && Object.hasOwn(value, key) ? value[key] : undefined
  return value
}

/**
 * Matches visible ASCII that has no leading or trailing spaces and cannot be mistaken for an encoded value (2026-07-28,
 * "x-mcp-header").
 */
const PLAIN = /^(?!=\?)[\x21-\x7e](?:[\x20-\x7e]*[\x21-\x7e])?$/

/** Returns the parameter headers for a call with these arguments. */
export const encodeParamHeaders = (
  declared: readonly ParamHeader[],
  args: JsonValue | undefined,
): Record<string, string> =>
  Object.fromEntries(
    declared.flatMap(({ path, header }) => {
      const value = argumentAt(args, path)
      if (value === undefined || value === null || typeof value === 'object') return []
      const text = String(value)
      return [[header, PLAIN.test(text) ? text : `=?base64?${Buffer.from(text).toString('base64')}?=`]]
    }),
  )
