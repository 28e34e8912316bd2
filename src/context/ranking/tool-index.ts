import SearchableMap from 'minisearch/SearchableMap'
import { replacePhrases } from './api-words.ts'
import { expandWord, type Vocabulary, type WordMeaning, type WordSources } from './expansion.ts'
import { CANDIDATES, spreadOut } from './spread-out.ts'
import { FIELDS, type Field, type ToolText, wordsOfTool } from './tool-words.ts'
import { isStopWord, splitWords, stemOf } from './words.ts'

/** What a word counts for, by where it stands. */
const FIELD_WEIGHTS: Readonly<Record<Field, number>> = {
  name: 3,
  title: 2.5,
  summary: 2,
  rest: 0.4,
  parameters: 0.9,
  details: 0.3,
}
/** How much the length of a part counts: a word among few says more. */
const LENGTH_EFFECT: Readonly<Record<Field, number>> = {
  name: 0.6,
  title: 0.6,
  summary: 0.5,
  rest: 0.6,
  parameters: 0.6,
  details: 0.6,
}
/** How soon more of the same word adds nothing more (BM25's k1). */
const SATURATION = 1.2
/** Words of a question that are looked at. */
const MAX_WORDS = 24
/** A question that is longer says no more, in characters. */
const MAX_QUERY_CHARACTERS = 1_000

/** The tools that have a word, how much it counts in each, and whether it is in what the tool is called. */
type Postings = { tools: Uint32Array; counts: Float32Array; called: Uint8Array; idf: number }

export type ToolIndex = {
  /** Places of the tools in the list that the index was made of, the best first; none that has nothing of the question. */
  find: (query: string, limit: number, isAllowed?: (place: number) => boolean) => number[]
}

type Draft = { tools: number[]; counts: number[]; called: number[] }

/** Tools that are read at one go, before others have their turn. */
const TOOLS_AT_ONCE = 50

const pause = (): Promise<void> => new Promise(resolve => setImmediate(resolve))

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

const averageLengths = (lengths: readonly Record<Field, number>[]): Record<Field, number> => {
  const sum = (field: Field) => lengths.reduce((all, length) => all + length[field], 0) / Math.max(lengths.length, 1)
  return {
    name: sum('name'),
    title: sum('title'),
    summary: sum('summary'),
    rest: sum('rest'),
    parameters: sum('parameters'),
    details: sum('details'),
  }
}

type Counted = {
  called: ReadonlySet<string>
  stems: Map<string, Partial<Record<Field, number>>>
  lengths: Record<Field, number>
}

const countWords = (tool: ToolText, toStem: (word: string) => string, originals: Map<string, string>): Counted => {
  const words = wordsOfTool(tool)
  const stems: Counted['stems'] = new Map()
  for (const field of FIELDS) {
    for (const word of words[field]) {
      const stem = toStem(word)
      if (!originals.has(stem)) originals.set(stem, word)
      const counts = stems.get(stem) ?? {}
      counts[field] = (counts[field] ?? 0) + 1
      stems.set(stem, counts)
    }
  }
  return {
    called: new Set(words.name.map(toStem)),
    stems,
    lengths: {
      name: words.name.length,
      title: words.title.length,
      summary: words.summary.length,
      rest: words.rest.length,
      parameters: words.parameters.length,
      details: words.details.length,
    },
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
    const effect = LENGTH_EFFECT[field]
    const length = 1 - effect + (effect * lengths[field]) / Math.max(average[field], 1)
    return sum + (FIELD_WEIGHTS[field] * count) / length
  }, 0)

const seal = (drafts: ReadonlyMap<string, Draft>, toolCount: number): SearchableMap<Postings> => {
  const map = new SearchableMap<Postings>()
  for (const [stem, { tools, counts, called }] of drafts) {
    map.set(stem, {
      tools: Uint32Array.from(tools),
      counts: Float32Array.from(counts),
      called: Uint8Array.from(called),
      idf: Math.log(1 + (toolCount - tools.length + 0.5) / (tools.length + 0.5)),
    })
  }
  return map
}

/** What the words of a question say, each with the stems that stand for it; the same word counts once. */
const readQuery = (query: string): string[] => {
  const words = splitWords(replacePhrases(query.slice(0, MAX_QUERY_CHARACTERS)))
  const telling = words.filter(word => !isStopWord(word))
  return [...new Set(telling.length > 0 ? telling : words)].slice(0, MAX_WORDS)
}

/** What it counts for that a tool has all of a question, in place of one word of it. */
const COVERAGE = 0.6
/** What it counts for that a question has all of what a tool is called. */
const EXACTNESS = 0.8

/** A word of the same meaning is less of a name than the word itself: its weight to this power. */
const NEAR_NAME_POWER = 1.5

/** For each tool, what the words that it is called by say together. */
const sumCalled = (map: SearchableMap<Postings>, toolCount: number): Float64Array => {
  const sums = new Float64Array(toolCount)
  for (const { tools, called, idf } of map.values()) {
    for (const [at, tool] of tools.entries()) if (called[at] === 1) sums[tool] = (sums[tool] ?? 0) + idf
  }
  return sums
}

const createRanking = (map: SearchableMap<Postings>, names: readonly ReadonlySet<string>[]) => {
  const toolCount = names.length
  const calledBy = sumCalled(map, toolCount)
  const scores = new Float64Array(toolCount)
  const best = new Float64Array(toolCount)
  const bestCalled = new Float64Array(toolCount)
  const covered = new Float64Array(toolCount)
  const called = new Float64Array(toolCount)

  /** Adds to each tool what the best of a word's meanings counts there; answers what it counts at most. */
  const addWord = (meanings: readonly WordMeaning[], touched: Set<number>): number => {
    const found: number[] = []
    const own = meanings.find(({ weight }) => weight === 1)
    // A rare word that means the same must not say more than the one that was asked for.
    const most = own === undefined ? Number.POSITIVE_INFINITY : (map.get(own.stem)?.idf ?? 0)
    let weight = 0
    for (const meaning of meanings) {
      const postings = map.get(meaning.stem)
      if (postings === undefined) continue
      const { tools, counts } = postings
      const full = meaning.weight * Math.min(postings.idf, most)
      weight = Math.max(weight, full)
      for (let at = 0; at < tools.length; at++) {
        const tool = tools[at] ?? 0
        const count = counts[at] ?? 0
        const score = full * ((count * (SATURATION + 1)) / (count + SATURATION))
        if (best[tool] === 0) found.push(tool)
        if (score > (best[tool] ?? 0)) best[tool] = score
        if (postings.called[at] === 1) {
          bestCalled[tool] = Math.max(bestCalled[tool] ?? 0, meaning.weight ** NEAR_NAME_POWER * postings.idf)
        }
      }
    }
    for (const tool of found) {
      const score = best[tool] ?? 0
      scores[tool] = (scores[tool] ?? 0) + score
      covered[tool] = (covered[tool] ?? 0) + Math.min(score, weight)
      called[tool] = (called[tool] ?? 0) + (bestCalled[tool] ?? 0)
      best[tool] = bestCalled[tool] = 0
      touched.add(tool)
    }
    return weight
  }

  return (
    words: readonly (readonly WordMeaning[])[],
    limit: number,
    isAllowed: (place: number) => boolean,
  ): number[] => {
    const touched = new Set<number>()
    const total = words.reduce((sum, meanings) => sum + addWord(meanings, touched), 0)
    const ranked: { tool: number; score: number }[] = []
    for (const tool of touched) {
      const share = total === 0 ? 1 : (covered[tool] ?? 0) / total
      const exactness = Math.min((called[tool] ?? 0) / Math.max(calledBy[tool] ?? 0, 1), 1)
      const score = (scores[tool] ?? 0) * (1 - COVERAGE + COVERAGE * share) * (1 + EXACTNESS * exactness)
      scores[tool] = covered[tool] = called[tool] = 0
      if (isAllowed(tool)) ranked.push({ tool, score })
    }
    ranked.sort((a, b) => b.score - a.score || a.tool - b.tool)
    return spreadOut(
      ranked.slice(0, Math.max(limit, CANDIDATES)).map(one => ({ ...one, called: names[one.tool] ?? new Set() })),
      limit,
    )
  }
}

/**
 * An index of what tools say of themselves, to be asked in words. Reads them in turns, so that others have theirs.
 * `sources`: where to look for other words of the same meaning.
 */
export const buildToolIndex = async (tools: readonly ToolText[], sources: WordSources): Promise<ToolIndex> => {
  const toStem = createStems()
  const originals = new Map<string, string>()
  const counted: Counted[] = []
  for (const [place, tool] of tools.entries()) {
    if (place > 0 && place % TOOLS_AT_ONCE === 0) await pause()
    counted.push(countWords(tool, toStem, originals))
  }
  const average = averageLengths(counted.map(({ lengths }) => lengths))
  const drafts = new Map<string, Draft>()
  for (const [place, { stems, lengths }] of counted.entries()) {
    if (place > 0 && place % (TOOLS_AT_ONCE * 10) === 0) await pause()
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
    near: (stem, distance) => [...map.fuzzyGet(stem, distance)].map(([near, [, edits]]) => ({ stem: near, edits })),
  }
  return {
    find: (query, limit, isAllowed = () => true) =>
      rank(
        readQuery(query).map(word => expandWord(word, vocabulary, sources)),
        limit,
        isAllowed,
      ),
  }
}
