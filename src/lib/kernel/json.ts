import { failure, type Result, success } from './result.ts'

export type JsonValue = string | number | boolean | null | JsonValue[] | JsonObject
export type JsonObject = { [key: string]: JsonValue }

export const isJsonObject = (value: unknown): value is JsonObject =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

/** Why a text is no JSON that we take. */
export type JsonRefusal = { reason: 'syntax' | 'depth' | 'members' | 'forbidden_key'; message: string }

/** Most members of all arrays and objects of a text together: what each becomes costs far more than its two bytes. */
const MAX_JSON_MEMBERS = 100_000

/**
 * Deepest nesting of arrays and objects, and how many members they have at most (each opening and comma makes one),
 * outside of strings; linear, without recursion. Ends where the members are too many.
 */
const shapeOf = (text: string): { deepest: number; members: number } => {
  let depth = 0
  let deepest = 0
  let members = 0
  for (let at = 0; at < text.length && members <= MAX_JSON_MEMBERS; at++) {
    const char = text.charCodeAt(at)
    if (char === 0x22) {
      for (at++; at < text.length && text.charCodeAt(at) !== 0x22; at++) {
        if (text.charCodeAt(at) === 0x5c) at++
      }
    } else if (char === 0x2c) members++
    else if (char === 0x7b || char === 0x5b) {
      members++
      depth++
      if (depth > deepest) deepest = depth
    } else if (char === 0x7d || char === 0x5d) depth--
  }
  return { deepest, members }
}

/** A text shorter than its brackets would need can be neither too deep nor too full: the small message pays nothing. */
const shapeRefusal = (text: string, maxDepth: number): JsonRefusal | undefined => {
  if (text.length <= Math.min(maxDepth, MAX_JSON_MEMBERS)) return undefined
  const { deepest, members } = shapeOf(text)
  if (deepest > maxDepth) return { reason: 'depth', message: `JSON is nested more than ${maxDepth} deep` }
  if (members <= MAX_JSON_MEMBERS) return undefined
  return { reason: 'members', message: `JSON has more than ${MAX_JSON_MEMBERS} members in all` }
}

/** A cheap first look: no key `__proto__` can be in a text that holds neither it nor an escape. */
const MAY_HOLD_PROTO = /__proto__|\\u/
const holdsProtoKey = (value: JsonValue): boolean => {
  const stack: JsonValue[] = [value]
  for (let next = stack.pop(); next !== undefined; next = stack.pop()) {
    if (next === null || typeof next !== 'object') continue
    if (!Array.isArray(next) && Object.hasOwn(next, '__proto__')) return true
    for (const child of Object.values(next)) stack.push(child)
  }
  return false
}

/**
 * Parses a JSON text of strangers: nested at most `maxDepth` deep, with MAX_JSON_MEMBERS members at most, and without
 * the key `__proto__`, which JSON.parse makes an own property that a later copy would turn into a prototype.
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
  if (MAY_HOLD_PROTO.test(text) && holdsProtoKey(value)) {
    return failure({ reason: 'forbidden_key', message: 'the key "__proto__" is not allowed' })
  }
  return success(value)
}
