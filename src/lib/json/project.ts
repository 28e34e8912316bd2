import type { JsonObject, JsonValue } from '../kernel/json.ts'
import { hasMembers, indexOfName, type Path } from './path.ts'
import { buildPathTree, createTree, type PathTree } from './path-tree.ts'

type Trees = readonly PathTree[]

const setMember = (object: JsonObject, name: string, value: JsonValue): void => {
  // An assignment to this one would set the prototype.
  if (name !== '__proto__') object[name] = value
  else Object.defineProperty(object, name, { value, enumerable: true, configurable: true, writable: true })
}

/** What the trees want of every item of an array. A name that is no index means that member of each item. */
const treesOfEach = (trees: Trees): Trees => {
  const each: PathTree[] = []
  for (const { everyItem, every, members } of trees) {
    if (everyItem !== undefined) each.push(everyItem)
    if (every !== undefined) each.push(every)
    const names = [...members].filter(([name]) => indexOfName(name) === undefined)
    if (names.length > 0) {
      each.push(createTree(new Map(names)))
    }
  }
  return each
}

const treesOfItems = (trees: Trees, length: number): ReadonlyMap<number, Trees> => {
  const byIndex = new Map<number, PathTree[]>()
  const add = (index: number, tree: PathTree): void => {
    const at = index < 0 ? index + length : index
    if (at >= 0 && at < length) byIndex.set(at, [...(byIndex.get(at) ?? []), tree])
  }
  for (const { items, members } of trees) {
    for (const [index, tree] of items) add(index, tree)
    for (const [name, tree] of members) {
      const index = indexOfName(name)
      if (index !== undefined) add(index, tree)
    }
  }
  return byIndex
}

const isWhole = (trees: Trees): boolean => trees.some(tree => tree.isWhole)

const treesOfMember = (trees: Trees, name: string): Trees => {
  const [only, second] = trees
  if (only !== undefined && second === undefined && only.every === undefined) return only.members.get(name)?.alone ?? []
  return trees.flatMap(({ members, every }) => [members.get(name), every].filter(tree => tree !== undefined))
}

/** The names that the trees ask for in an object; undefined when they ask for every one. */
const wantedNames = (trees: Trees): Iterable<string> | undefined => {
  if (trees.some(tree => tree.every !== undefined)) return undefined
  const [only, second] = trees
  return only !== undefined && second === undefined
    ? only.members.keys()
    : new Set(trees.flatMap(tree => [...tree.members.keys()]))
}

const includeItems = (items: readonly JsonValue[], trees: Trees): JsonValue | undefined => {
  const each = treesOfEach(trees)
  const byIndex = treesOfItems(trees, items.length)
  const kept: JsonValue[] = []
  const keep = (item: JsonValue | undefined, wanted: Trees): void => {
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

const include = (value: JsonValue, trees: Trees): JsonValue | undefined => {
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

const excludeItems = (items: readonly JsonValue[], trees: Trees): JsonValue => {
  const each = treesOfEach(trees)
  const byIndex = treesOfItems(trees, items.length)
  return items.flatMap((item, index) => {
    const wanted = byIndex.size === 0 ? each : [...each, ...(byIndex.get(index) ?? [])]
    return isWhole(wanted) ? [] : [exclude(item, wanted)]
  })
}

const exclude = (value: JsonValue, trees: Trees): JsonValue => {
  if (trees.length === 0) return value
  if (Array.isArray(value)) return excludeItems(value, trees)
  if (!hasMembers(value)) return value
  const kept: JsonObject = {}
  for (const name of Object.keys(value)) {
    const wanted = treesOfMember(trees, name)
    if (!isWhole(wanted)) setMember(kept, name, exclude(value[name] ?? null, wanted))
  }
  return kept
}

/**
 * What the paths lead to, in its place: an object keeps the members, an array the items that lead there, in order.
 * What leads to nothing is left out; undefined when nothing is left. Shares what it keeps whole with the value.
 */
export const includePaths = (value: JsonValue, paths: readonly Path[]): JsonValue | undefined =>
  include(value, [buildPathTree(paths)])

/** The value without what the paths lead to; undefined when that is all of it. Shares with it what is untouched. */
export const excludePaths = (value: JsonValue, paths: readonly Path[]): JsonValue | undefined => {
  const tree = buildPathTree(paths)
  return tree.isWhole ? undefined : exclude(value, [tree])
}
