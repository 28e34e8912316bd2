import { type Path, type PathStep, renderPath } from '../json/path.ts'
import {
  buildPathTree,
  isWhole,
  type PathTrees,
  treesOfEachItem,
  treesOfMember,
  treesOfSingleItems,
} from '../json/path-tree.ts'
import type { Place } from './searchable-texts.ts'

/** Returns the names and indexes that lead to a place from one around it, or from the root of the document. */
export const keysTo = (place: Place, from?: Place): readonly (string | number)[] => {
  const keys: (string | number)[] = []
  for (let at = place; at !== from && at.parent !== undefined; at = at.parent) keys.push(at.key)
  return keys.reverse()
}

const toStep = (key: string | number): PathStep =>
  typeof key === 'number' ? { kind: 'item', index: key } : { kind: 'member', name: key }

/** Returns the path of a place in the syntax of `fields`: `users[3].name`. */
export const pathOf = (place: Place): string => renderPath(keysTo(place).map(toStep))

/** Returns the path of a place, with every array index replaced by `[]`: `users[].name`. It begins at `from`, if given. */
export const fieldOf = (place: Place, from?: Place): string =>
  renderPath(keysTo(place, from).map(key => (typeof key === 'number' ? { kind: 'items' } : toStep(key))))

/**
 * Returns a function that tells whether the paths select a place or one of its ancestors. The paths begin at `from`, or
 * at the root of the document.
 */
export const createPathFilter = (paths: readonly Path[], from?: Place): ((place: Place) => boolean) => {
  const root = buildPathTree(paths)
  const known = new Map<Place, PathTrees>()
  const below = (trees: PathTrees, parent: Place, key: string | number): PathTrees => {
    if (typeof key === 'string') return treesOfMember(trees, key)
    const length = Array.isArray(parent.value) ? parent.value.length : 0
    return [...treesOfEachItem(trees), ...(treesOfSingleItems(trees, length).get(key) ?? [])]
  }
  /**
   * Returns the trees that apply to a place. All places below one that is selected as a whole, or not at all, share the
   * trees of that place.
   */
  const treesAt = (place: Place): PathTrees => {
    if (place === from || place.parent === undefined) return root.active
    const cached = known.get(place)
    if (cached !== undefined) return cached
    const above = treesAt(place.parent)
    const trees = above.length === 0 || isWhole(above) ? above : below(above, place.parent, place.key)
    known.set(place, trees)
    return trees
  }
  return place => isWhole(treesAt(place))
}
