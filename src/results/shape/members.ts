import { hasMembers } from '../../lib/json/path.ts'
import type { JsonValue } from '../../lib/kernel/json.ts'

/** Returns the value with every leaf changed. Member names stay. */
export const mapLeaves = (value: JsonValue, change: (leaf: JsonValue) => JsonValue): JsonValue => {
  if (Array.isArray(value)) return value.map(item => mapLeaves(item, change))
  if (!hasMembers(value)) return change(value)
  return Object.fromEntries(Object.entries(value).map(([key, member]) => [key, mapLeaves(member, change)]))
}

export const mapStrings = (value: JsonValue, change: (text: string) => string): JsonValue =>
  mapLeaves(value, leaf => (typeof leaf === 'string' ? change(leaf) : leaf))
