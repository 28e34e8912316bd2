import SearchableMap from 'minisearch/SearchableMap'
import { rarityOf, relativeCount } from '../../lib/search/bm25.ts'
import { createPause } from '../../lib/worker/pause.ts'
import { type ApiWords, createApiWords, replacePhrases } from './api-words.ts'
import { expandWord, type Vocabulary } from './expansion.ts'
import { createRanking, type Postings } from './rank.ts'
import { FIELDS, type Field, type ToolText, wordsOfTool } from './tool-words.ts'
import { isStopWord, searchWordsOf, stemOf } from './words.ts'

/** Weight of a word, by the field in which it occurs. */
const FIELD_WEIGHTS: Readonly<Record<Field, number>> = {
  name: 3,
  title: 2.5,
  summary: 2,
  rest: 0.4,
  parameters: 0.9,
  details: 0.3,
}
/** BM25's b: how strongly the length of each field counts. */
const LENGTH_EFFECT: Readonly<Record<Field, number>> = {
  name: 0.6,
  title: 0.6,
  summary: 0.5,
  rest: 0.6,
  parameters: 0.6,
  details: 0.6,
}
const MAX_WORDS = 24
export const MAX_QUERY_CHARACTERS = 1_000

export type ToolIndex = {
  /** Returns the indexes of the matching tools, best first. */
  find: (query: string, limit: number, isAllowed?: (place: number) => boolean) => number[]
}

type Draft = { tools: number[]; counts: number[]; called: number[] }

const createStems = () => {
  const stems = new Map<string, string>()
  return (word: string): string => {
    const known = stems.get(word)
    if (known !== undefined) return known
    const stem = stemOf(word)
    stems.set(word, stem)
    return stem
  }
}

const forEachField = (numberOf: (field: Field) => number): Record<Field, number> => ({
  name: numberOf('name'),
  title: numberOf('title'),
  summary: numberOf('summary'),
  rest: numberOf('rest'),
  parameters: numberOf('parameters'),
  details: numberOf('details'),
})

const averageLengths = (lengths: readonly Record<Field, number>[]): Record<Field, number> =>
  forEachField(field => lengths.reduce((all, length) => all + length[field], 0) / Math.max(lengths.length, 1))

type Counted = {
  called: ReadonlySet<string>
  stems: Map<string, Partial<Record<Field, number>>>
  lengths: Record<Field, number>
}

const countWords = (tool: ToolText, toStem: (word: string) => string): Counted => {
  const words = wordsOfTool(tool)
  const stems: Counted['stems'] = new Map()
  for (const field of FIELDS) {
    for (const word of words[field]) {
      const stem = toStem(word)
      const counts = stems.get(stem) ?? {}
      counts[field] = (counts[field] ?? 0) + 1
      stems.set(stem, counts)
    }
  }
  return {
    called: new Set(words.name.map(toStem)),
    stems,
    lengths: forEachField(field => words[field].length),
  }
}

const weigh = (
  counts: Partial<Record<Field, number>>,
  lengths: Record<Field, number>,
  average: Record<Field, number>,
) =>
  FIELDS.reduce((sum, field) => {
    const count = counts[field]
    if (count === undefined) return sum
    const mean = Math.max(average[field], 1)
    return sum + FIELD_WEIGHTS[field] * relativeCount(count, lengths[field], mean, LENGTH_EFFECT[field])
  }, 0)

const seal = (drafts: ReadonlyMap<string, Draft>, toolCount: number): SearchableMap<Postings> => {
  const map = new SearchableMap<Postings>()
  for (const [stem, { tools, counts, called }] of drafts) {
    map.set(stem, {
      tools: Uint32Array.from(tools),
      counts: Float32Array.from(counts),
      called: Uint8Array.from(called),
      idf: rarityOf(tools.length, toolCount),
    })
  }
  return map
}

/** Returns the distinct words of a query. Removes stop words unless the query has no other words. */
const readQuery = (query: string): string[] => {
  const words = searchWordsOf(replacePhrases(query.slice(0, MAX_QUERY_CHARACTERS)))
  const telling = words.filter(word => !isStopWord(word))
  return [...new Set(telling.length > 0 ? telling : words)].slice(0, MAX_WORDS)
}

/** Edit distance of two transposed letters: one insertion and one deletion. */
const SWAP_EDITS = 2

const isSwapped = (one: string, other: string): boolean => {
  let at = 0
  while (at < one.length && one[at] === other[at]) at++
  return one[at] === other[at + 1] && one[at + 1] === other[at] && one.slice(at + 2) === other.slice(at + 2)
}

/** Builds a full-text index of tools, yielding to the event loop regularly. `apiWordsNear` returns related words. */
const buildToolIndex = async (tools: readonly ToolText[], apiWordsNear: ApiWords): Promise<ToolIndex> => {
  const toStem = createStems()
  const counted: Counted[] = []
  const pause = createPause()
  for (const tool of tools) {
    await pause()
    counted.push(countWords(tool, toStem))
  }
  const average = averageLengths(counted.map(({ lengths }) => lengths))
  const drafts = new Map<string, Draft>()
  for (const [place, { stems, lengths }] of counted.entries()) {
    await pause()
    for (const [stem, counts] of stems) {
      const draft = drafts.get(stem) ?? { tools: [], counts: [], called: [] }
      draft.tools.push(place)
      draft.counts.push(weigh(counts, lengths, average))
      draft.called.push(counts.name === undefined && counts.title === undefined ? 0 : 1)
      drafts.set(stem, draft)
    }
  }
  const map = seal(drafts, tools.length)
  const rank = createRanking(
    map,
    counted.map(({ called }) => called),
  )
  const vocabulary: Vocabulary = {
    has: stem => map.has(stem),
    withPrefix: prefix => [...map.atPrefix(prefix).keys()],
    near: (stem, most) =>
      [...map.fuzzyGet(stem, Math.max(most, SWAP_EDITS))]
        .map(([near, [, edits]]) => ({ stem: near, edits: isSwapped(stem, near) ? 1 : edits }))
        .filter(({ edits }) => edits <= most),
  }
  return {
    find: (query, limit, isAllowed = () => true) =>
      rank(
        readQuery(query).map(word => expandWord(word, vocabulary, apiWordsNear)),
        limit,
        isAllowed,
      ),
  }
}

/** Creates a builder of tool indexes. All indexes share the synonyms, which are parsed for the first one. */
export const createToolFinder = () => {
  let words: ReturnType<typeof createApiWords> | undefined
  return {
    buildIndex: (tools: readonly ToolText[]): Promise<ToolIndex> => {
      words ??= createApiWords()
      return buildToolIndex(tools, words)
    },
  }
}

export type ToolFinder = ReturnType<typeof createToolFinder>
