import type { JsonValue } from '../kernel/json.ts'
import { hasMembers } from './path.ts'

/** Counts the objects without members in a value. */
export const countEmptyObjects = (value: JsonValue): number => {
  let count = 0
  if (Array.isArray(value)) for (const item of value) count += countEmptyObjects(item)
  else if (hasMembers(value)) {
    const members = Object.values(value)
    if (members.length === 0) return 1
    for (const member of members) count += countEmptyObjects(member)
  }
  return count
}

/** Leaves out objects without members, and what only contains such objects. Returns undefined if nothing is left. */
export const dropEmptyObjects = (value: JsonValue): JsonValue | undefined => {
  if (Array.isArray(value)) {
    const items = value.map(dropEmptyObjects).filter(item => item !== undefined)
    return items.length === 0 && value.length > 0 ? undefined : items
  }
  if (!hasMembers(value)) return value
  const kept = Object.entries(value).flatMap(([name, member]): [string, JsonValue][] => {
    const part = dropEmptyObjects(member)
    return part === undefined ? [] : [[name, part]]
  })
  return kept.length === 0 ? undefined : Object.fromEntries(kept)
}
