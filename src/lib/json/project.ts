import type { JsonObject, JsonValue } from '../kernel/json.ts'
import { hasMembers, type Path } from './path.ts'
import {
  buildPathTree,
  isWhole,
  type PathTrees,
  treesOfEachItem,
  treesOfMember,
  treesOfSingleItems,
  wantedNames,
} from './path-tree.ts'

const setMember = (object: JsonObject, name: string, value: JsonValue): void => {
  // A plain assignment to this name would set the prototype.
  if (name !== '__proto__') object[name] = value
  else Object.defineProperty(object, name, { value, enumerable: true, configurable: true, writable: true })
}

const includeItems = (items: readonly JsonValue[], trees: PathTrees): JsonValue | undefined => {
  const each = treesOfEachItem(trees)
  const byIndex = treesOfSingleItems(trees, items.length)
  const kept: JsonValue[] = []
  const keep = (item: JsonValue | undefined, wanted: PathTrees): void => {
    const part = item === undefined ? undefined : include(item, wanted)
    if (part !== undefined) kept.push(part)
  }
  if (each.length > 0) {
    items.forEach((item, index) => {
      keep(item, byIndex.size === 0 ? each : [...each, ...(byIndex.get(index) ?? [])])
    })
  } else for (const index of [...byIndex.keys()].sort((a, b) => a - b)) keep(items[index], byIndex.get(index) ?? [])
  return kept.length > 0 ? kept : undefined
}

const include = (value: JsonValue, trees: PathTrees): JsonValue | undefined => {
  if (isWhole(trees)) return value
  if (Array.isArray(value)) return includeItems(value, trees)
  if (!hasMembers(value)) return undefined
  const kept: JsonObject = {}
  let isEmpty = true
  for (const name of wantedNames(trees) ?? Object.keys(value)) {
    if (!Object.hasOwn(value, name)) continue
    const part = include(value[name] ?? null, treesOfMember(trees, name))
    if (part === undefined) continue
    setMember(kept, name, part)
    isEmpty = false
  }
  return isEmpty ? undefined : kept
}

const excludeItems = (items: readonly JsonValue[], trees: PathTrees): JsonValue => {
  const each = treesOfEachItem(trees)
  const byIndex = treesOfSingleItems(trees, items.length)
  return items.flatMap((item, index) => {
    const wanted = byIndex.size === 0 ? each : [...each, ...(byIndex.get(index) ?? [])]
    return isWhole(wanted) ? [] : [exclude(item, wanted)]
  })
}

const exclude = (value: JsonValue, trees: PathTrees): JsonValue => {
  if (trees.length === 0) return value
  if (Array.isArray(value)) return excludeItems(value, trees)
  if (!hasMembers(value)) return value
  const names = Object.keys(value)
  if (names.length === 0) return value
  const kept: JsonObject = {}
  for (const name of names) {
    const wanted = treesOfMember(trees, name)
    if (!isWhole(wanted)) setMember(kept, name, exclude(value[name] ?? null, wanted))
  }
  return kept
}

/**
 * Keeps only the object members and array items that the paths lead to, with the items in order. Leaves out objects and
 * arrays in which nothing is selected, and returns undefined if nothing is left. Reuses fully selected parts of the
 * value.
 */
export const includePaths = (value: JsonValue, paths: readonly Path[]): JsonValue | undefined =>
  include(value, buildPathTree(paths).active)

/**
 * Removes what the paths lead to, and returns undefined if that is the whole value. Reuses parts of the value
 * that no path leads to, and its empty objects. With `digitsAreNames`, a number is an index only in brackets.
 */
export const excludePaths = (
  value: JsonValue,
  paths: readonly Path[],
  digitsAreNames = false,
): JsonValue | undefined => {
  const { isWhole: isAll, active } = buildPathTree(paths, digitsAreNames)
  return isAll ? undefined : exclude(value, active)
}
