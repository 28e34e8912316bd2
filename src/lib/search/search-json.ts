import { describeMiss, matches } from '../json/describe-miss.ts'
import type { StepOutput } from '../json/result-document.ts'
import { formatNumber } from '../kernel/format.ts'
import type { JsonObject, JsonValue } from '../kernel/json.ts'
import { failure, type Result, success } from '../kernel/result.ts'
import type { IsMatch } from './excerpt.ts'
import { findHits, type Hit, pickHits } from './find-hits.ts'
import { type Near, parseFuzzy } from './fuzzy.ts'
import { locate, showRecord, toContextResults, toResult } from './json-matches.ts'
import { fieldOf, pathOf } from './place-paths.ts'
import {
  createMatcher,
  describeCount,
  describeGaps,
  describeNoMatch,
  describeReplacements,
  hintCase,
  hintRegex,
  hintWords,
  type Query,
  takeFitting,
} from './query.ts'
import { showRecords } from './records-shown.ts'
import type { JsonIndex, ValueIndex } from './search-index.ts'
import type { Place, PlacedTexts, SearchableText } from './searchable-texts.ts'
import { foldPlural, splitWords } from './split-words.ts'

/** Maximum values that are combined into records. More would exhaust the worker's memory. */
const MAX_RANKED_VALUES = 1_000_000
/** Maximum field names listed if nothing is found. */
const MAX_FIELDS_LISTED = 12

const toDocument = (value: JsonValue, notes: readonly string[]): StepOutput => ({
  document: { kind: 'json', value, format: 'json' },
  notes,
})

const NOTHING: JsonValue = { matches: 0, results: [] }

/** Returns the first results that fit. */
const fitting = (results: Iterable<JsonObject>): JsonObject[] =>
  takeFitting(results, result => JSON.stringify(result).length)

const describeNothing = (
  { values, names }: ValueIndex,
  pattern: string,
  hints: readonly string[],
): readonly string[] => {
  const fields = new Set<string>()
  for (const place of names.places) {
    if (fields.size > MAX_FIELDS_LISTED) break
    if (typeof place.value !== 'object') fields.add(fieldOf(place))
  }
  const listed = [...fields].slice(0, MAX_FIELDS_LISTED).join(', ')
  const more = fields.size > MAX_FIELDS_LISTED ? ', …' : ''
  const where = fields.size > 0 ? `; the fields are ${listed}${more}` : ''
  return [describeNoMatch(pattern, values.texts.length, 'value', where), ...hints]
}

/** Puts names first, because they are few, and reserves half of the results for values. */
const share = <T>(names: readonly T[], values: readonly T[], topK: number): readonly T[] => {
  const forNames = Math.max(Math.ceil(topK / 2), topK - values.length)
  const shownNames = names.slice(0, forNames)
  return [...shownNames, ...values.slice(0, topK - shownNames.length)]
}

/** Returns the text at an index in an array, or an empty array if there is none. */
type TextAt = (at: number) => readonly SearchableText[]

const textsAt =
  ({ texts, places }: PlacedTexts, isName: boolean): TextAt =>
  at => {
    const [text, place] = [texts[at], places[at]]
    return text === undefined || place === undefined ? [] : [{ text, place, isName }]
  }

/**
 * Returns the records of the places, which have `total` matches, or the fields of them that are asked for. With
 * `isMatch`, the places are records, and the matches are the texts in them for which it returns true.
 */
const toRecords = (
  places: readonly Place[],
  total: number,
  query: Query,
  notes: readonly string[],
  isMatch?: IsMatch,
): StepOutput => {
  const { results, covered, notes: told, isPartial } = showRecords(places, query, isMatch)
  const gaps = describeGaps({ isPartial }).filter(gap => !notes.includes(gap))
  const isMissed = results.length === 0 && told.length > 0
  return toDocument({ matches: total, results }, [
    ...told,
    ...notes,
    ...gaps,
    ...(isMissed ? [] : describeCount(total, covered, 'matches in all')),
  ])
}

const searchMatches = (index: ValueIndex, query: Query): Result<StepOutput, string> => {
  const parsed = createMatcher(query)
  if (!parsed.ok) return parsed
  const { matcher, notes } = parsed.value
  const options = { multiline: query.multiline, eachMatch: query.mode === 'context', isLate: query.isLate }
  const inNames = findHits(index.names.texts, matcher, { ...options, multiline: true, eachMatch: false })
  const inValues = findHits(index.values.texts, matcher, options)
  const total = inNames.total + inValues.total
  if (total === 0)
    return success(
      toDocument(NOTHING, [
        ...notes,
        ...describeGaps(inValues),
        ...describeNothing(index, query.pattern, [
          ...hintRegex(index.values.texts, 'Values', query),
          ...hintCase(index.values.texts, 'Values', query),
          ...hintWords(query),
        ]),
      ]),
    )

  const pick = (textAt: TextAt, hits: readonly Hit[]) =>
    hits.flatMap(hit => textAt(hit.passage).map(entry => ({ entry, hit })))
  if (query.show.length > 0) {
    const [placed, found] = inValues.total > 0 ? [index.values, inValues] : [index.names, inNames]
    const places = pick(textsAt(placed, false), found.hits).map(({ entry }) => entry.place)
    return success(toRecords(places, found.total, query, [...notes, ...describeGaps(inValues)]))
  }
  const isContext = query.mode === 'context'
  const all = { picked: inValues.hits.slice(0, query.topK), covered: query.topK }
  const { picked, covered } = isContext ? all : pickHits(inValues.hits, query.topK)
  const names = pick(textsAt(index.names, true), inNames.hits.slice(0, query.topK))
  const shown = share(names, pick(textsAt(index.values, false), picked), query.topK)
  const located = shown.map(({ entry, hit }) => ({ entry, unit: hit.unit, span: locate(hit, entry.text, matcher) }))
  const results = isContext
    ? fitting(toContextResults(located, query.contextLines ?? 1, matcher.test))
    : fitting(located.map(({ entry, unit, span }) => toResult(entry, unit, span, query.contextLines ?? 0)))
  const isAllShown = results.length === names.length + picked.length
  const beside = isAllShown ? covered - picked.length : 0
  const count = isContext ? shown.length : results.length + beside
  return success(
    toDocument({ matches: total, results }, [
      ...notes,
      ...describeCount(total, count, 'matches in all', inValues.isAtLeast),
      ...describeGaps(inValues),
    ]),
  )
}

const searchFuzzy = (index: ValueIndex, query: Query): Result<StepOutput, string> => {
  const parsed = parseFuzzy(query.pattern, query.maxDistance)
  if (!parsed.ok) return parsed
  const found: { entry: SearchableText; near: Near }[] = []
  let isPartial = false
  const findNear = (placed: PlacedTexts, isName: boolean): void => {
    const textAt = textsAt(placed, isName)
    for (const [at, text] of placed.texts.entries()) {
      isPartial ||= query.isLate()
      if (isPartial) return
      const near = parsed.value.find(text)
      if (near !== undefined) found.push(...textAt(at).map(entry => ({ entry, near })))
    }
  }
  findNear(index.names, true)
  findNear(index.values, false)
  const { maxDistance } = parsed.value
  if (found.length === 0) {
    const nothing = describeNothing(index, query.pattern, [`max_distance was ${maxDistance}.`])
    return success(toDocument(NOTHING, [...describeGaps({ isPartial }), ...nothing]))
  }
  found.sort((one, other) => one.near.distance - other.near.distance)
  if (query.show.length > 0) {
    const values = found.filter(({ entry }) => !entry.isName)
    const places = (values.length > 0 ? values : found).map(({ entry }) => entry.place)
    return success(toRecords(places, places.length, query, describeGaps({ isPartial })))
  }
  const best = found.slice(0, query.topK)
  const results = fitting(
    best.map(({ entry, near }) => ({
      ...toResult(entry, { start: 0, end: entry.text.length }, near.span, query.contextLines ?? 0),
      match: entry.text.slice(near.span.start, near.span.end),
      distance: near.distance,
    })),
  )
  return success(
    toDocument({ matches: found.length, results }, [
      ...describeCount(found.length, results.length, 'matches in all'),
      ...describeGaps({ isPartial }),
    ]),
  )
}

const searchRanked = (index: ValueIndex, query: Query): Result<StepOutput, string> => {
  if (index.values.texts.length > MAX_RANKED_VALUES) {
    const many = `${formatNumber(index.values.texts.length)} values, too many to rank`
    return failure(`There are ${many}: use mode "text" or "regex", or fields with fewer values.`)
  }
  const { records, ranking } = index.ranked()
  const { ranked, replacements } = ranking.rank(query.pattern)
  if (ranked.length === 0) return success(toDocument(NOTHING, describeNothing(index, query.pattern, [])))
  const words = new Set([...splitWords(query.pattern), ...[...replacements.values()].flat()].map(foldPlural))
  const isMatch = (text: string) => splitWords(text).some(word => words.has(foldPlural(word)))
  if (query.show.length > 0) {
    const places = ranked.flatMap(({ index: at }) => records[at]?.place ?? [])
    return success(toRecords(places, ranked.length, query, describeReplacements(replacements), isMatch))
  }
  const best = ranked.slice(0, query.topK)
  const results = fitting(
    best.flatMap(({ index: at, score }) => {
      const place = records[at]?.place
      if (place === undefined) return []
      const record = showRecord(place, best.length, isMatch)
      return [{ path: pathOf(place), score: Math.round(score * 100) / 100, record }]
    }),
  )
  return success(
    toDocument({ matches: ranked.length, results }, [
      ...describeReplacements(replacements),
      ...describeCount(ranked.length, results.length, `of ${formatNumber(ranking.size)} records match`),
    ]),
  )
}

/** Searches all JSON values, and each field name once. Shows the matches with their paths. */
export const searchJson = (index: JsonIndex, query: Query): Result<StepOutput, string> => {
  const { fields } = query
  const missed = fields.filter(path => !matches(index.document.value, path))
  const misses = missed.map(path => describeMiss(index.document.value, path))
  if (fields.length > 0 && missed.length === fields.length) return success(toDocument(NOTHING, misses))
  const texts = index.within(fields)
  const found =
    query.mode === 'bm25'
      ? searchRanked(texts, query)
      : query.mode === 'fuzzy'
        ? searchFuzzy(texts, query)
        : searchMatches(texts, query)
  return found.ok ? success({ ...found.value, notes: [...misses, ...found.value.notes] }) : found
}
