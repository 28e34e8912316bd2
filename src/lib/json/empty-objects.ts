import type { JsonValue } from '../kernel/json.ts'
import { hasMembers } from './path.ts'

const addEmptyObjects = (value: JsonValue, found: Set<JsonValue>): void => {
  if (Array.isArray(value)) for (const item of value) addEmptyObjects(item, found)
  else if (hasMembers(value)) {
    const members = Object.values(value)
    if (members.length === 0) found.add(value)
    for (const member of members) addEmptyObjects(member, found)
  }
}

/** Finds the objects without members in a value. */
export const findEmptyObjects = (value: JsonValue): ReadonlySet<JsonValue> => {
  const found = new Set<JsonValue>()
  addEmptyObjects(value, found)
  return found
}

/** Leaves out the given empty objects, and what only contains such objects. Returns undefined if nothing is left. */
export const dropEmptyObjects = (value: JsonValue, dropped: ReadonlySet<JsonValue>): JsonValue | undefined => {
  if (dropped.has(value)) return undefined
  if (Array.isArray(value)) {
    const items = value.map(item => dropEmptyObjects(item, dropped)).filter(item => item !== undefined)
    return items.length === 0 && value.length > 0 ? undefined : items
  }
  if (!hasMembers(value)) return value
  const members = Object.entries(value)
  const kept = members.flatMap(([name, member]): [string, JsonValue][] => {
    const part = dropEmptyObjects(member, dropped)
    return part === undefined ? [] : [[name, part]]
  })
  return kept.length === 0 && members.length > 0 ? undefined : Object.fromEntries(kept)
}
