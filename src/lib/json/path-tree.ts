import type { Path } from './path.ts'

/** Several paths in one: what is wanted of a value, and of what is below it. */
export type PathTree = {
  /** A path ends here: all of the value is meant. */
  isWhole: boolean
  members: Map<string, PathTree>
  items: Map<number, PathTree>
  everyItem: PathTree | undefined
  /** Every member of an object, every item of an array. */
  every: PathTree | undefined
  /** The tree as the only one of a list: made once, for it is asked for at every value. */
  alone: readonly PathTree[]
}

export const createTree = (members = new Map<string, PathTree>()): PathTree => {
  const alone: PathTree[] = []
  const tree: PathTree = { isWhole: false, members, items: new Map(), everyItem: undefined, every: undefined, alone }
  alone.push(tree)
  return tree
}

const childIn = <Key>(map: Map<Key, PathTree>, key: Key): PathTree => {
  const child = map.get(key) ?? createTree()
  map.set(key, child)
  return child
}

export const buildPathTree = (paths: readonly Path[]): PathTree => {
  const root = createTree()
  for (const path of paths) {
    let at = root
    for (const step of path) {
      if (step.kind === 'member') at = childIn(at.members, step.name)
      else if (step.kind === 'item') at = childIn(at.items, step.index)
      else if (step.kind === 'items') at = at.everyItem ??= createTree()
      else at = at.every ??= createTree()
    }
    at.isWhole = true
  }
  return root
}
