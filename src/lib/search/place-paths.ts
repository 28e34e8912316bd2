import { indexOfName, type Path, type PathStep, renderPath } from '../json/path.ts'
import type { Place } from './searchable-texts.ts'

/** The places from the document's first member or item down to this one. */
const chainTo = (place: Place): readonly Place[] => {
  const chain: Place[] = []
  for (let at = place; at.parent !== undefined; at = at.parent) chain.push(at)
  return chain.reverse()
}

/** The names and indices that lead from the document to the place. */
export const keysTo = (place: Place): readonly (string | number)[] => chainTo(place).map(({ key }) => key)

const toStep = (key: string | number): PathStep =>
  typeof key === 'number' ? { kind: 'item', index: key } : { kind: 'member', name: key }

/** A place as `fields` take it: `users[3].name`. */
export const pathOf = (place: Place): string => renderPath(keysTo(place).map(toStep))

/** The same for all items of the lists on the way: `users[].name`. */
export const fieldOf = (place: Place): string =>
  renderPath(keysTo(place).map(key => (typeof key === 'number' ? { kind: 'items' } : toStep(key))))

const isItemAt = (place: Place, index: number): boolean => {
  const items = place.parent?.value
  return place.key === (index < 0 && Array.isArray(items) ? items.length + index : index)
}

/** Whether a path leads to the last of the places or to one before it; as `follow` goes, from the value above. */
const leadsTo = (path: Path, chain: readonly Place[], at = 0, from = 0): boolean => {
  const step = path[from]
  if (step === undefined) return true
  const place = chain[at]
  if (place === undefined) return false
  const goOn = () => leadsTo(path, chain, at + 1, from + 1)
  if (step.kind === 'any') return goOn()
  if (typeof place.key === 'string') return step.kind === 'member' && step.name === place.key && goOn()
  if (step.kind === 'items') return goOn()
  const index = step.kind === 'item' ? step.index : indexOfName(step.name)
  if (index !== undefined) return isItemAt(place, index) && goOn()
  // A name that meets a list means that member of each item, be these lists themselves.
  return leadsTo(path, chain, at + 1, from)
}

/** Whether a place is one of those that the paths lead to, or below one. */
export const isBelow = (paths: readonly Path[], place: Place): boolean => {
  const chain = chainTo(place)
  return paths.some(path => leadsTo(path, chain))
}
