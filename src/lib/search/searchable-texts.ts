import { findExactNumber } from '../json/exact-numbers.ts'
import type { JsonObject, JsonValue } from '../kernel/json.ts'

/** The position of a value in its document. The root has no `parent`. */
export type Place = {
  readonly parent: Place | undefined
  readonly key: string | number
  readonly value: JsonValue
  /** Total number of characters of the texts at and below this place. */
  size: number
}

/** A text that can be found: a single value, or the name of a field at its first occurrence. */
export type SearchableText = { readonly text: string; readonly place: Place; readonly isName: boolean }

/** Texts and their places, in two arrays because a result of 1 MB has tens of thousands of texts. */
export type PlacedTexts = { readonly texts: readonly string[]; readonly places: readonly Place[] }

export type SearchableTexts = {
  /** Values in document order. */
  readonly values: PlacedTexts
  /** Names in document order, one per path: `users[].name` is listed once, however many users there are. */
  readonly names: PlacedTexts
}

const startTexts = () => {
  const texts: string[] = []
  const places: Place[] = []
  const add = (text: string, place: Place): void => {
    texts.push(text)
    places.push(place)
  }
  return { texts, places, add }
}

export const selectTexts = ({ texts, places }: PlacedTexts, isWanted: (place: Place) => boolean): PlacedTexts => {
  const selected = startTexts()
  for (const [index, place] of places.entries()) if (isWanted(place)) selected.add(texts[index] ?? '', place)
  return selected
}

/**
 * The names already found at and below a place. All items of a list share one shape, so each name is listed only once.
 */
type Shape = { fields: Map<string, Shape>; items: Shape | undefined }

const newShape = (): Shape => ({ fields: new Map(), items: undefined })

/**
 * Collects all texts in a JSON value, except null and empty strings. Recursion is safe because document nesting is
 * limited.
 */
export const collectTexts = (root: JsonValue): SearchableTexts => {
  const values = startTexts()
  const names = startTexts()

  const readMember = (key: string, value: JsonValue, parent: Place, shape: Shape): number => {
    const place: Place = { parent, key, value, size: 0 }
    let below = shape.fields.get(key)
    if (below === undefined) {
      below = newShape()
      shape.fields.set(key, below)
      names.add(key, place)
    }
    return read(place, below)
  }
  const readText = (text: string, place: Place): number => {
    if (text !== '') values.add(text, place)
    return text.length
  }
  const readBelow = (value: JsonObject | JsonValue[], place: Place, shape: Shape): number => {
    let size = 0
    if (Array.isArray(value)) {
      shape.items ??= newShape()
      for (let index = 0; index < value.length; index++) {
        size += read({ parent: place, key: index, value: value[index] ?? null, size: 0 }, shape.items)
      }
      return size
    }
    const exact = findExactNumber(value)
    if (exact !== undefined) return readText(exact, place)
    for (const key of Object.keys(value)) {
      const member = value[key]
      if (member !== undefined) size += readMember(key, member, place, shape)
    }
    return size
  }
  const read = (place: Place, shape: Shape): number => {
    const { value } = place
    if (typeof value === 'string') place.size = readText(value, place)
    else if (typeof value !== 'object') place.size = readText(String(value), place)
    else if (value !== null) place.size = readBelow(value, place, shape)
    return place.size
  }
  read({ parent: undefined, key: '', value: root, size: 0 }, newShape())
  return { values, names }
}
