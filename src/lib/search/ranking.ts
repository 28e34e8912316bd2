import { distance } from 'fastest-levenshtein'
import { foldPlural, wordsOf } from './split-words.ts'

/** How much a word that occurs again adds, and how much a long text is held against (Robertson's BM25). */
const K1 = 1.2
const B = 0.75

/** Words taken in place of one that is nowhere. */
const MAX_STAND_INS = 5
const MIN_PREFIX_CHARS = 3
const MIN_TYPO_CHARS = 4
const MIN_TWO_TYPOS_CHARS = 8

export type Ranked = { readonly index: number; readonly score: number }

export type Ranking = {
  readonly size: number
  /** Every text that holds a word of the query, the best first; and the words taken in place of unknown ones. */
  rank: (query: string) => { ranked: readonly Ranked[]; standIns: ReadonlyMap<string, readonly string[]> }
}

/** Pairs of a text's index and how often the word is in it, one behind the other. */
type Postings = number[]

const addWord = (postings: Postings, index: number): void => {
  const last = postings.length - 2
  if (postings[last] === index) postings[last + 1] = (postings[last + 1] ?? 0) + 1
  else postings.push(index, 1)
}

const isNear = (word: string, other: string): boolean => {
  if (word.length >= MIN_PREFIX_CHARS && other.startsWith(word)) return true
  if (word.length < MIN_TYPO_CHARS) return false
  const most = word.length < MIN_TWO_TYPOS_CHARS ? 1 : 2
  return Math.abs(word.length - other.length) <= most && distance(word, other) <= most
}

/** An index of texts, each the list of its parts, by BM25 over words; English plurals count as their singular. */
export const buildRanking = (texts: readonly (readonly string[])[]): Ranking => {
  const byWord = new Map<string, Postings>()
  const lengths = new Uint32Array(texts.length)
  const postingsOf = (word: string): Postings => {
    const folded = foldPlural(word)
    const postings = byWord.get(folded) ?? []
    byWord.set(folded, postings)
    // Known under both forms, so that each is folded once.
    byWord.set(word, postings)
    return postings
  }
  for (const [index, parts] of texts.entries()) {
    for (const part of parts) {
      const words = wordsOf(part)
      lengths[index] = (lengths[index] ?? 0) + words.length
      for (const word of words) addWord(byWord.get(word) ?? postingsOf(word), index)
    }
  }
  const meanLength = lengths.reduce((sum, length) => sum + length, 0) / Math.max(1, texts.length)

  const addScores = (postings: Postings, weight: number, scores: Map<number, number>) => {
    const holding = postings.length / 2
    const rarity = Math.log(1 + (texts.length - holding + 0.5) / (holding + 0.5))
    for (let at = 0; at < postings.length; at += 2) {
      const index = postings[at] ?? 0
      const times = postings[at + 1] ?? 0
      const length = (lengths[index] ?? 0) / meanLength
      const score = (rarity * times * (K1 + 1)) / (times + K1 * (1 - B + B * length))
      scores.set(index, (scores.get(index) ?? 0) + weight * score)
    }
  }
  const standInsFor = (word: string): readonly string[] =>
    [...byWord.keys()]
      .filter(other => isNear(word, other))
      .sort((one, other) => distance(word, one) - distance(word, other))
      .slice(0, MAX_STAND_INS)

  const rank: Ranking['rank'] = query => {
    const scores = new Map<number, number>()
    const standIns = new Map<string, readonly string[]>()
    for (const word of new Set(wordsOf(query))) {
      const postings = byWord.get(word) ?? byWord.get(foldPlural(word))
      if (postings !== undefined) {
        addScores(postings, 1, scores)
        continue
      }
      const others = standInsFor(word)
      if (others.length > 0) standIns.set(word, others)
      for (const each of new Set(others.map(other => byWord.get(other) ?? []))) addScores(each, 0.5, scores)
    }
    const ranked = Array.from(scores, ([index, score]) => ({ index, score }))
    return { ranked: ranked.sort((one, other) => other.score - one.score || one.index - other.index), standIns }
  }
  return { size: texts.length, rank }
}
