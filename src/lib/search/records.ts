import { hasMembers } from '../json/path.ts'
import type { JsonValue } from '../kernel/json.ts'
import { keysTo } from './place-paths.ts'
import type { Place, SearchableTexts } from './searchable-texts.ts'

/** What is ranked as one: a part of a JSON document, with its texts. */
export type JsonRecord = { readonly place: Place; readonly texts: readonly string[] }

/** An item of a list is one record up to here; of a larger one its own items and members are. */
export const MAX_ITEM_CHARS = 8_000
/** A member of an object is one record up to here. */
const MAX_MEMBER_CHARS = 2_000

/** The record that what stands directly in a place belongs to, and whether all that is below belongs to it too. */
type Owner = { place: Place; isClosed: boolean }

/** How many names of those that lead to a record count as its own. */
const LEADING_NAMES = 3

const isListItem = (place: Place): boolean => typeof place.key === 'number'

const isSingle = (value: JsonValue): boolean => typeof value !== 'object' || value === null

/** Whether all that is below a member belongs together: a list of objects does not, nor does a map of them. */
const isOneThing = (value: JsonValue): boolean => {
  if (Array.isArray(value)) return value.every(isSingle)
  if (!hasMembers(value)) return true
  const members = Object.values(value)
  const isPlain = (member: JsonValue) => !hasMembers(member) && isOneThing(member)
  return members.some(isPlain) && members.every(member => !Array.isArray(member) || isOneThing(member))
}

const isInList = (place: Place): boolean => {
  for (let at: Place | undefined = place; at !== undefined; at = at.parent) if (isListItem(at)) return true
  return false
}

/** Records of lists stand for themselves; what is a member of something is known by its name. */
const leadingNames = (place: Place): readonly string[] =>
  isInList(place) ? [] : keysTo(place).slice(-LEADING_NAMES).map(String)

/**
 * The records of a document: the items of its lists, as far up as they are not too large; the members of objects that
 * are small and one thing; and of all else the values that stand directly in it. Names count where they tell records apart: of
 * whatever is in no list.
 */
export const readRecords = ({ values, names }: SearchableTexts): readonly JsonRecord[] => {
  const owners = new Map<Place, Owner>()
  const ownerOf = (place: Place): Owner => {
    const known = owners.get(place)
    if (known !== undefined) return known
    const above = place.parent === undefined ? undefined : ownerOf(place.parent)
    const closes = isListItem(place)
      ? place.size <= MAX_ITEM_CHARS
      : above !== undefined && place.size <= MAX_MEMBER_CHARS && isOneThing(place.value)
    const owner = above?.isClosed === true ? above : { place, isClosed: closes }
    owners.set(place, owner)
    return owner
  }
  /** A single value belongs to what it stands in, or, as an item of a list of such, is a record. */
  const ownerOfLeaf = (place: Place): Place => {
    const { parent } = place
    if (parent === undefined) return place
    const owner = ownerOf(parent)
    return !owner.isClosed && isListItem(place) ? place : owner.place
  }

  const records = new Map<Place, string[]>()
  const add = (owner: Place, text: string) => {
    const texts = records.get(owner)
    if (texts === undefined) records.set(owner, [...leadingNames(owner), text])
    else texts.push(text)
  }
  for (const [index, place] of values.places.entries()) add(ownerOfLeaf(place), values.texts[index] ?? '')
  for (const [index, named] of names.places.entries()) {
    const name = names.texts[index] ?? ''
    if (isInList(named)) continue
    if (isSingle(named.value)) {
      add(ownerOfLeaf(named), name)
      continue
    }
    const { place, isClosed } = ownerOf(named)
    // The name of a record itself is among those that lead to it, and its parts have records of their own.
    if (isClosed && place !== named) add(place, name)
  }
  return Array.from(records, ([place, texts]) => ({ place, texts }))
}
