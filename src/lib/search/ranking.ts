import { distance } from 'fastest-levenshtein'
import { rarityOf, relativeCount, saturate } from './bm25.ts'
import { foldPlural, splitWords } from './split-words.ts'

/** Weight of a text's length, from 0 to 1. */
const LENGTH_EFFECT = 0.75

/** Maximum replacements for a word that does not occur. */
const MAX_REPLACEMENTS = 5
const MIN_PREFIX_CHARS = 3
const MIN_TYPO_CHARS = 4
const MIN_TWO_TYPOS_CHARS = 8

/** A flat list with two numbers for each text that contains a word: the text's index and the number of occurrences. */
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

/** Builds a BM25 word index of texts, each of which is a list of parts. English plurals count as their singular. */
export const buildRanking = (texts: readonly (readonly string[])[]) => {
  const byWord = new Map<string, Postings>()
  const lengths = new Uint32Array(texts.length)
  const postingsOf = (word: string): Postings => {
    const folded = foldPlural(word)
    const postings = byWord.get(folded) ?? []
    byWord.set(folded, postings)
    // Stored under both forms, so that each word is folded only once.
    byWord.set(word, postings)
    return postings
  }
  for (const [index, parts] of texts.entries()) {
    for (const part of parts) {
      const words = splitWords(part)
      lengths[index] = (lengths[index] ?? 0) + words.length
      for (const word of words) addWord(byWord.get(word) ?? postingsOf(word), index)
    }
  }
  const meanLength = lengths.reduce((sum, length) => sum + length, 0) / Math.max(1, texts.length)

  const addScores = (postings: Postings, weight: number, scores: Map<number, number>) => {
    const rarity = weight * rarityOf(postings.length / 2, texts.length)
    for (let at = 0; at < postings.length; at += 2) {
      const index = postings[at] ?? 0
      const count = relativeCount(postings[at + 1] ?? 0, lengths[index] ?? 0, meanLength, LENGTH_EFFECT)
      scores.set(index, (scores.get(index) ?? 0) + rarity * saturate(count))
    }
  }
  const findReplacements = (word: string): readonly string[] =>
    [...byWord.keys()]
      .filter(other => isNear(word, other))
      .sort((one, other) => distance(word, one) - distance(word, other))
      .slice(0, MAX_REPLACEMENTS)

  /** Returns every text that contains a word of the query, best first, and the words used in place of unknown ones. */
  const rank = (query: string) => {
    const scores = new Map<number, number>()
    const replacements = new Map<string, readonly string[]>()
    for (const word of new Set(splitWords(query))) {
      const postings = byWord.get(word) ?? byWord.get(foldPlural(word))
      if (postings !== undefined) {
        addScores(postings, 1, scores)
        continue
      }
      const others = findReplacements(word)
      if (others.length > 0) replacements.set(word, others)
      for (const each of new Set(others.map(other => byWord.get(other) ?? []))) addScores(each, 0.5, scores)
    }
    const ranked = Array.from(scores, ([index, score]) => ({ index, score }))
    return { ranked: ranked.sort((one, other) => other.score - one.score || one.index - other.index), replacements }
  }
  return { size: texts.length, rank }
}

export type Ranking = ReturnType<typeof buildRanking>
