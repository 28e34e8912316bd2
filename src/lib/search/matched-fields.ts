import { findExactNumber } from '../json/exact-numbers.ts'
import { type Path, renderPath } from '../json/path.ts'
import type { JsonObject, JsonValue } from '../kernel/json.ts'
import type { IsMatch } from './excerpt.ts'
import { createPathFilter, fieldOf } from './place-paths.ts'
import type { Place } from './searchable-texts.ts'

/** Maximum fields named of one record. */
const MAX_FIELDS_NAMED = 3

/** Returns the places of the single values at and below a place that match. */
const matchesBelow = (place: Place, isMatch: IsMatch): readonly Place[] => {
  const { value } = place
  const exact = findExactNumber(value)
  if (typeof value !== 'object' || value === null || exact !== undefined) {
    return isMatch(exact ?? String(value)) ? [place] : []
  }
  const children: [string | number, JsonValue][] = Array.isArray(value) ? [...value.entries()] : Object.entries(value)
  return children.flatMap(([key, child]) => matchesBelow({ parent: place, key, value: child, size: 0 }, isMatch))
}

/**
 * Collects the fields of a record in which its matches are. With `isMatch`, the places that are added are records
 * themselves, and the matches are the texts in them for which it returns true.
 */
export const createMatchedFields = (record: Place, shown: readonly Path[], isMatch: IsMatch | undefined) => {
  const isShown = createPathFilter(shown, record)
  const hidden = new Set<string>()
  let hasShown = false
  return {
    add: (place: Place): void => {
      if (hasShown) return
      const matches = isMatch === undefined ? [place] : matchesBelow(place, isMatch)
      hasShown = matches.some(match => match === record || isShown(match))
      for (const match of matches) if (hidden.size < MAX_FIELDS_NAMED) hidden.add(fieldOf(match, record))
    },
    /** Returns the fields with matches if none of them is shown, or else an empty text. */
    describe: (): string => (hasShown ? '' : [...hidden].join(', ')),
  }
}

export type MatchedFields = ReturnType<typeof createMatchedFields>

/**
 * Adds to each result the fields with matches that it does not show. If they are the same for all results, one note says
 * so, unless only this field was searched.
 */
export const tellMatchedFields = (
  results: readonly JsonObject[],
  fields: readonly string[],
  searched: readonly Path[],
): { results: JsonObject[]; notes: readonly string[] } => {
  const [first = ''] = fields
  if (fields.some(field => field !== first)) {
    return {
      results: results.map((result, index) => ({ ...result, ...(fields[index] !== '' && { matched: fields[index] }) })),
      notes: [],
    }
  }
  const [only] = searched
  const isKnown = only !== undefined && searched.length === 1 && renderPath(only).endsWith(first)
  return { results: [...results], notes: first === '' || isKnown ? [] : [`Matches are in ${first}.`] }
}
