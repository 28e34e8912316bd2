import { describeMiss, matches } from '../json/describe-miss.ts'
import { isKeyed } from '../json/keyed-object.ts'
import { hasMembers, type Path } from '../json/path.ts'
import { includePaths } from '../json/project.ts'
import type { JsonObject, JsonValue } from '../kernel/json.ts'
import type { IsMatch } from './excerpt.ts'
import { createMatchedFields, type MatchedFields, tellMatchedFields } from './matched-fields.ts'
import { pathOf } from './place-paths.ts'
import type { Query } from './query.ts'
import type { Place } from './searchable-texts.ts'

/** Returns the part of a path after its last `[]` or `*`, because models also write a field's path from the root. */
const lastPartOf = (path: Path): Path => {
  const at = path.findLastIndex(({ kind }) => kind === 'items' || kind === 'any')
  return at === -1 || at === path.length - 1 ? path : path.slice(at + 1)
}

type Shown = { place: Place; fields: readonly Path[] }

/** How many of the wanted fields an object has. */
type Share = 'all' | 'some' | 'none'

const shareOf = ({ value }: Place, wanted: readonly Path[], isLate: () => boolean): Share => {
  const found = wanted.filter(path => !isLate() && matches(value, path)).length
  return found === wanted.length ? 'all' : found > 0 ? 'some' : 'none'
}

/** Creates a function that selects the object around a match whose fields are shown. Selects nothing once it is late. */
const createSelection = (fields: readonly Path[], isLate: () => boolean) => {
  // The objects around several matches are the same ones, and the outer ones are large.
  const alternatives = [fields, fields.map(lastPartOf)].map(wanted => ({ wanted, shares: new Map<Place, Share>() }))
  const keyed = new Map<Place, boolean>()
  const known = new Map<Place, Shown | undefined>()

  const isInKeyed = ({ parent }: Place): boolean => {
    if (parent === undefined || !hasMembers(parent.value)) return false
    const isParentKeyed = keyed.get(parent) ?? isKeyed(parent.value, Object.keys(parent.value))
    keyed.set(parent, isParentKeyed)
    return isParentKeyed
  }

  const isRecord = (at: Place): boolean => typeof at.key === 'number' || isInKeyed(at)

  const objectsAround = (place: Place): readonly Place[] => {
    const objects: Place[] = []
    for (let at: Place | undefined = place; at !== undefined; at = at.parent) if (hasMembers(at.value)) objects.push(at)
    return objects
  }

  /** Selects the innermost object that is one of many, or else any object around the place, that has all fields or some. */
  const select = (place: Place): Shown | undefined => {
    const objects = objectsAround(place)
    const tried = [objects.filter(isRecord), objects.filter(at => !isRecord(at))].flatMap(places =>
      alternatives.flatMap(({ wanted, shares }) => places.map(at => ({ place: at, fields: wanted, shares }))),
    )
    const has = ({ place: at, fields: wanted, shares }: (typeof tried)[number]): Share => {
      const share = shares.get(at) ?? shareOf(at, wanted, isLate)
      shares.set(at, share)
      return share
    }
    return tried.find(at => has(at) === 'all') ?? tried.find(at => has(at) === 'some')
  }

  return {
    /** Returns the innermost object around a place that is one of many, or else the innermost object. */
    findRecord: (place: Place): Place | undefined => objectsAround(place).find(isRecord) ?? objectsAround(place)[0],
    find: (place: Place): Shown | undefined => {
      const { parent = place } = place
      // All single values of an object have the same objects around them.
      const shared = hasMembers(place.value) ? place : parent
      if (!known.has(shared)) known.set(shared, select(place))
      return known.get(shared)
    },
  }
}

export type RecordsShown = {
  results: JsonObject[]
  /** Number of places whose records are shown. */
  covered: number
  notes: readonly string[]
  /** Whether it took too long, so that records may be missing. */
  isPartial: boolean
}

/**
 * Returns the records of the first matches, or only some fields of them. A record with several matches is returned once.
 * The fields are relative to the record: the innermost item of a list, or member of a keyed object, that has them. Tells
 * in which fields the matches are if none of them is shown. With `isMatch`, the places are records, and the matches are
 * the texts in them for which it returns true.
 */
export const showRecords = (
  places: readonly Place[],
  { show, fields: searched, topK, isLate }: Pick<Query, 'show' | 'fields' | 'topK' | 'isLate'>,
  isMatch?: IsMatch,
): RecordsShown => {
  const { find, findRecord } = createSelection(show, isLate)
  const parts = new Map<Place, { record: JsonValue; matched: MatchedFields }>()
  let covered = 0
  let isPartial = false
  for (const place of places) {
    const found = find(place)
    isPartial = isLate()
    if (isPartial) break
    if (found === undefined) continue
    let part = parts.get(found.place)
    if (part === undefined) {
      if (parts.size === topK) continue
      const record = includePaths(found.place.value, found.fields) ?? null
      part = { record, matched: createMatchedFields(found.place, found.fields, isMatch) }
      parts.set(found.place, part)
    }
    part.matched.add(place)
    covered++
  }
  const records = Array.from(parts, ([place, { record }]) => ({ path: pathOf(place), record }))
  const matched = Array.from(parts.values(), part => part.matched.describe())
  const { results, notes: told } = tellMatchedFields(records, matched, searched)
  const [first] = places
  const innermost = first === undefined || results.length > 0 || isPartial ? undefined : findRecord(first)
  const missed = innermost === undefined ? [] : show.map(path => describeMiss(innermost.value, path))
  return { results, covered, notes: [...told, ...missed], isPartial }
}
