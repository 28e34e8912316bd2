import { indexOfName, type Path } from './path.ts'

/** A tree that merges several paths. It describes what they select from a value and from the values below it. */
export type PathTree = {
  isWhole: boolean
  members: Map<string, PathTree>
  items: Map<number, PathTree>
  everyItem: PathTree | undefined
  /** The tree that applies to every member of an object and every item of an array. */
  every: PathTree | undefined
  /** Whether the tree follows a `**`, so that it also applies to all values below. */
  isDeep: boolean
  /** Returns the array index that a name stands for. */
  indexOf: (name: string) => number | undefined
  /** This tree and, if a `**` follows, the tree after the `**`. Both trees apply to the same value. */
  active: PathTree[]
}

export type PathTrees = readonly PathTree[]

type TreeOptions = Partial<Pick<PathTree, 'members' | 'isDeep' | 'indexOf'>>

const createTree = ({ members = new Map(), isDeep = false, indexOf = indexOfName }: TreeOptions = {}): PathTree => {
  const active: PathTree[] = []
  const tree: PathTree = {
    isWhole: false,
    members,
    items: new Map(),
    everyItem: undefined,
    every: undefined,
    isDeep,
    indexOf,
    active,
  }
  active.push(tree)
  return tree
}

const childIn = <Key>(map: Map<Key, PathTree>, key: Key, options: TreeOptions): PathTree => {
  const child = map.get(key) ?? createTree(options)
  map.set(key, child)
  return child
}

const belowOf = (tree: PathTree, options: TreeOptions): PathTree => {
  const known = tree.active[1]
  if (known !== undefined) return known
  const below = createTree({ ...options, isDeep: true })
  tree.active.push(below)
  return below
}

/** Builds a tree from several paths. With `digitsAreNames`, a number is an index only in brackets. */
export const buildPathTree = (paths: readonly Path[], digitsAreNames = false): PathTree => {
  const options = digitsAreNames ? { indexOf: () => undefined } : {}
  const root = createTree(options)
  for (const path of paths) {
    let at = root
    for (const step of path) {
      if (step.kind === 'member') at = childIn(at.members, step.name, options)
      else if (step.kind === 'item') at = childIn(at.items, step.index, options)
      else if (step.kind === 'deep') at = belowOf(at, options)
      else if (step.kind === 'items') at = at.everyItem ??= createTree(options)
      else at = at.every ??= createTree(options)
    }
    at.isWhole = true
  }
  return root
}

const NONE: PathTrees = []

export const isWhole = (trees: PathTrees): boolean => trees.some(tree => tree.isWhole)

/** Adds a tree and, if a `**` follows it, the tree after the `**`. Skips trees that are already in the list. */
const addActive = (trees: PathTree[], tree: PathTree | undefined): void => {
  if (tree === undefined) return
  for (const each of tree.active) if (!trees.includes(each)) trees.push(each)
}

/** Returns the trees that apply to a member of an object. */
export const treesOfMember = (trees: PathTrees, name: string): PathTrees => {
  const [only] = trees
  if (only !== undefined && trees.length === 1 && only.every === undefined) {
    const child = only.members.get(name)
    if (!only.isDeep) return child?.active ?? NONE
    if (child === undefined) return trees
  }
  const found: PathTree[] = []
  for (const tree of trees) {
    addActive(found, tree.members.get(name))
    addActive(found, tree.every)
    if (tree.isDeep) addActive(found, tree)
  }
  return found
}

/** Returns the part of an array's tree that also applies to each of its items. */
const throughArray = (tree: PathTree): PathTree | undefined => {
  if (tree.isDeep) return tree
  const names = [...tree.members].filter(([name]) => tree.indexOf(name) === undefined)
  return names.length === 0 ? undefined : createTree({ members: new Map(names), indexOf: tree.indexOf })
}

/** Returns the trees that apply to every item of an array. A name that is not an index means that member of each item. */
export const treesOfEachItem = (trees: PathTrees): PathTrees => {
  const found: PathTree[] = []
  for (const tree of trees) {
    addActive(found, tree.everyItem)
    addActive(found, tree.every)
    addActive(found, throughArray(tree))
  }
  return found
}

/** Returns the trees that apply to individual items of an array, by index. */
export const treesOfSingleItems = (trees: PathTrees, length: number): ReadonlyMap<number, PathTrees> => {
  const byIndex = new Map<number, PathTrees>()
  const add = (index: number, tree: PathTree): void => {
    const at = index < 0 ? index + length : index
    if (at >= 0 && at < length) byIndex.set(at, [...(byIndex.get(at) ?? NONE), ...tree.active])
  }
  for (const { items, members, indexOf } of trees) {
    for (const [index, tree] of items) add(index, tree)
    for (const [name, tree] of members) {
      const index = indexOf(name)
      if (index !== undefined) add(index, tree)
    }
  }
  return byIndex
}

/** Returns the names of the members that the trees can select, or undefined if that can be any member. */
export const wantedNames = (trees: PathTrees): Iterable<string> | undefined => {
  if (trees.some(tree => tree.every !== undefined || tree.isDeep)) return undefined
  const [only] = trees
  return only !== undefined && trees.length === 1
    ? only.members.keys()
    : new Set(trees.flatMap(tree => [...tree.members.keys()]))
}
