import { failure, type Result, success } from './result.ts'

export type JsonValue = string | number | boolean | null | JsonValue[] | JsonObject
export type JsonObject = { [key: string]: JsonValue }

export const isJsonObject = (value: unknown): value is JsonObject =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

/** Returns the value as JSON represents it, without undefined members. */
export const toJsonObject = (value: object): JsonObject => JSON.parse(JSON.stringify(value))

/** Parses JSON without limits. Returns undefined if the text is not JSON. */
export const parseIfJson = (text: string): JsonValue | undefined => {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}

/** The reason why JSON was refused. */
export type JsonRefusal = { reason: 'syntax' | 'depth' | 'members' | 'forbidden_key'; message: string }

/**
 * Maximum total number of array items and object members. Each of them takes far more memory than its JSON text, which
 * can be as short as two bytes.
 */
const MAX_JSON_MEMBERS = 100_000

/** The nesting depth of JSON text, and the numbers of opening brackets, colons and commas outside strings. */
export type JsonMeasure = { deepest: number; containers: number; colons: number; commas: number }

/** Measures JSON text in linear time, without recursion. Stops after more than `maxMembers` brackets and commas. */
export const measureJson = (text: string, maxMembers = Number.POSITIVE_INFINITY): JsonMeasure => {
  let depth = 0
  let deepest = 0
  let containers = 0
  let colons = 0
  let commas = 0
  for (let at = 0; at < text.length && containers + commas <= maxMembers; at++) {
    const char = text.charCodeAt(at)
    if (char === 0x22) {
      for (at++; at < text.length && text.charCodeAt(at) !== 0x22; at++) {
        if (text.charCodeAt(at) === 0x5c) at++
      }
    } else if (char === 0x2c) commas++
    else if (char === 0x3a) colons++
    else if (char === 0x7b || char === 0x5b) {
      containers++
      depth++
      if (depth > deepest) deepest = depth
    } else if (char === 0x7d || char === 0x5d) depth--
  }
  return { deepest, containers, colons, commas }
}

/** Checks the depth and the number of members. Skips text that is too short to exceed the limits. */
const shapeRefusal = (text: string, maxDepth: number): JsonRefusal | undefined => {
  if (text.length <= Math.min(maxDepth, MAX_JSON_MEMBERS)) return undefined
  const { deepest, containers, commas } = measureJson(text, MAX_JSON_MEMBERS)
  if (deepest > maxDepth) return { reason: 'depth', message: `JSON is nested more than ${maxDepth} levels deep` }
  if (containers + commas <= MAX_JSON_MEMBERS) return undefined
  return { reason: 'members', message: `JSON has more than ${MAX_JSON_MEMBERS} members in total` }
}

/** Cheap first check: if this does not match, the text cannot contain a key `__proto__`. */
const MAY_HOLD_PROTO = /__proto__|\\u/
const hasProtoKey = (value: JsonValue): boolean => isJsonObject(value) && Object.hasOwn(value, '__proto__')

/**
 * Returns whether `matches` is true for the value or for any value inside it. Avoids recursion, so that deeply nested
 * values cannot overflow the stack.
 */
export const someValue = (root: JsonValue, matches: (value: JsonValue) => boolean): boolean => {
  const stack = [root]
  for (let next = stack.pop(); next !== undefined; next = stack.pop()) {
    if (matches(next)) return true
    if (typeof next === 'object' && next !== null) for (const child of Object.values(next)) stack.push(child)
  }
  return false
}

/**
 * Parses untrusted JSON. Allows at most `maxDepth` levels and MAX_JSON_MEMBERS members, and no key `__proto__`, because
 * JSON.parse makes it an own property that a later copy could turn into a prototype.
 */
export const parseJson = (text: string, maxDepth: number): Result<JsonValue, JsonRefusal> => {
  const refusal = shapeRefusal(text, maxDepth)
  if (refusal !== undefined) return failure(refusal)
  let value: JsonValue
  try {
    value = JSON.parse(text)
  } catch (error) {
    return failure({ reason: 'syntax', message: error instanceof SyntaxError ? error.message : 'invalid JSON' })
  }
  if (MAY_HOLD_PROTO.test(text) && someValue(value, hasProtoKey)) {
    return failure({ reason: 'forbidden_key', message: 'the key "__proto__" is not allowed' })
  }
  return success(value)
}
