import { hasMembers } from '../json/path.ts'
import type { JsonValue } from '../kernel/json.ts'
import { keysTo } from './place-paths.ts'
import type { Place, SearchableTexts } from './searchable-texts.ts'

/** A part of a JSON document that is ranked as a unit, together with its texts. */
export type JsonRecord = { readonly place: Place; readonly texts: readonly string[] }

/** A list item of up to this size is one record. A larger item is split, and its items and members become records. */
export const MAX_ITEM_CHARS = 8_000
/** An object member of up to this size is one record. */
const MAX_MEMBER_CHARS = 2_000

/** The record that the values directly in a place belong to, and whether everything below belongs to it too. */
type Owner = { place: Place; isClosed: boolean }

/** Maximum number of property names in a record's path that are searched as part of its text. */
const LEADING_NAMES = 3

const isListItem = (place: Place): boolean => typeof place.key === 'number'

const isSingle = (value: JsonValue): boolean => typeof value !== 'object' || value === null

/** Whether a member and everything below it form a unit, unlike a list or map of objects. */
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

/** Returns the names that count as texts of a record: those in the record's path, unless the record is in a list. */
const leadingNames = (place: Place): readonly string[] =>
  isInList(place) ? [] : keysTo(place).slice(-LEADING_NAMES).map(String)

/**
 * Splits a document into records: the outermost list items that are not too large, small object members that form a
 * unit, and single values otherwise. Outside lists, property names are part of a record's text, because they
 * distinguish records.
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
  /**
   * Returns the record of a single value: the one around it, or the value itself if it is an item of a list of values.
   */
  const ownerOfValue = (place: Place): Place => {
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
  for (const [index, place] of values.places.entries()) add(ownerOfValue(place), values.texts[index] ?? '')
  for (const [index, named] of names.places.entries()) {
    const name = names.texts[index] ?? ''
    if (isInList(named)) continue
    if (isSingle(named.value)) {
      add(ownerOfValue(named), name)
      continue
    }
    const { place, isClosed } = ownerOf(named)
    // A record's own name is already one of its leading names. A place that is not a single record has separate records
    // for its parts.
    if (isClosed && place !== named) add(place, name)
  }
  return Array.from(records, ([place, texts]) => ({ place, texts }))
}
