import type SearchableMap from 'minisearch/SearchableMap'
import { saturate } from '../../lib/search/bm25.ts'
import type { WordMeaning } from './expansion.ts'

/** A found tool with its score and the words of its name. */
export type Candidate = { tool: number; score: number; called: ReadonlySet<string> }

/**
 * Minimum number of top tools to choose from. Does not depend on the limit, so that the limit does not change the first
 * results.
 */
const CANDIDATES = 30
/** Share of common words from which two tools count as variants of one, such as for users and for teams. */
const ALIKE = 0.6
/** Factor applied to a tool's score for each similar tool ranked above it. */
const REPEATED = 0.9

const shareOf = (a: ReadonlySet<string>, b: ReadonlySet<string>): number => {
  let common = 0
  for (const word of a) if (b.has(word)) common++
  return common / Math.max(a.size + b.size - common, 1)
}

/**
 * Returns the best tools, but not only variants of one tool. If a query does not use the words of the tools, several
 * kinds of tools are more likely to include the right one. `ranked` starts with the best.
 */
export const spreadOut = (ranked: readonly Candidate[], limit: number): number[] => {
  const left = ranked.map(candidate => ({ ...candidate }))
  const chosen: number[] = []
  while (chosen.length < limit) {
    const next = left.reduce<(typeof left)[number] | undefined>(
      (best, one) => (best === undefined || one.score > best.score ? one : best),
      undefined,
    )
    if (next === undefined) break
    chosen.push(next.tool)
    left.splice(left.indexOf(next), 1)
    for (const other of left) if (shareOf(next.called, other.called) >= ALIKE) other.score *= REPEATED
  }
  return chosen
}

/** The tools that contain a word, its weight in each, and whether it is in the tool's name or title. */
export type Postings = { tools: Uint32Array; counts: Float32Array; called: Uint8Array; idf: number }

/** Share of the score that depends on how much of the query a tool covers. */
const COVERAGE = 0.6
/** Bonus if the query contains all words of the tool's name. */
const EXACTNESS = 0.8

/** Exponent applied to a synonym's weight, so that a synonym of a word in a name counts less. */
const NEAR_NAME_POWER = 1.5

/** Returns, for each tool, the sum of the idf of the words in its name and title. */
const sumCalled = (map: SearchableMap<Postings>, toolCount: number): Float64Array => {
  const sums = new Float64Array(toolCount)
  for (const { tools, called, idf } of map.values()) {
    for (const [at, tool] of tools.entries()) if (called[at] === 1) sums[tool] = (sums[tool] ?? 0) + idf
  }
  return sums
}

/**
 * Creates a function that ranks an index's tools by query words and their expansions. `names` holds the stems of each
 * tool's name.
 */
export const createRanking = (map: SearchableMap<Postings>, names: readonly ReadonlySet<string>[]) => {
  const toolCount = names.length
  const calledBy = sumCalled(map, toolCount)
  const scores = new Float64Array(toolCount)
  const best = new Float64Array(toolCount)
  const bestCalled = new Float64Array(toolCount)
  const covered = new Float64Array(toolCount)
  const called = new Float64Array(toolCount)

  /** Adds the score of a word's best expansion to each tool. Returns the highest possible score. */
  const addWord = (meanings: readonly WordMeaning[], touched: Set<number>): number => {
    const found: number[] = []
    const own = meanings.find(({ weight }) => weight === 1)
    // A rare synonym must not outweigh the query word itself.
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
        const score = full * saturate(count)
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
