import type { ApiWords } from './api-words.ts'
import { stemOf } from './words.ts'

/** Irregular forms of common verbs and nouns, each followed by its base form. */
const IRREGULAR: ReadonlyMap<string, string> = new Map(
  `began begin begun begin bought buy broke break broken break brought bring built build came come caught catch children child
  chose choose chosen choose done do drawn draw drew draw driven drive fell fall felt feel found find gave give given give
  gone go got get gotten get grown grow heard hear held hold hidden hide hid hide kept keep knew know known know laid lay led
  lead left leave lent lend lost lose made make meant mean men man met meet paid pay people person ran run read read rose rise
  said say sat sit saw see seen see sent send shown show shut shut slept sleep sold sell spent spend spoken speak spoke speak
  stolen steal stood stand stuck stick sung sing taken take taught teach thought think threw throw thrown throw told tell took
  take understood understand went go women woman won win worn wear written write wrote write indices index`
    .split(/\s+/)
    .flatMap((word, at, all): [string, string][] => (at % 2 === 0 ? [[word, all[at + 1] ?? word]] : [])),
)

const ENDINGS: readonly [ending: string, instead: string][] = [
  ['ies', 'y'],
  ['sses', 'ss'],
  ['xes', 'x'],
  ['ches', 'ch'],
  ['shes', 'sh'],
  ['es', 'e'],
  ['s', ''],
  ['ied', 'y'],
  ['ed', 'e'],
  ['ed', ''],
  ['ing', 'e'],
  ['ing', ''],
  ['er', ''],
  ['est', ''],
]

/** Returns the base form of an irregular word. For any other word, returns the word and its possible base forms. */
const baseForms = (word: string): string[] => {
  const irregular = IRREGULAR.get(word)
  if (irregular !== undefined) return [irregular]
  const forms = [word]
  for (const [ending, instead] of ENDINGS) {
    if (!word.endsWith(ending) || word.length - ending.length < 3) continue
    const stem = word.slice(0, -ending.length)
    forms.push(stem + instead)
    // `running`, `planned`.
    if (instead === '' && /([^aeiou])\1$/.test(stem)) forms.push(stem.slice(0, -1))
  }
  return forms
}

/** The stems that occur in the indexed tools. */
export type Vocabulary = {
  has: (stem: string) => boolean
  withPrefix: (prefix: string) => readonly string[]
  /** Returns the stems within this edit distance. */
  near: (stem: string, edits: number) => readonly { stem: string; edits: number }[]
}

/** A stem that matches a query word, with its weight. A weight of 1 means the word itself. */
export type WordMeaning = { stem: string; weight: number }

const MIN_PREFIX_CHARACTERS = 3
const MAX_PREFIXED = 20
const PREFIX_WEIGHT = 0.7
const MIN_TYPO_CHARACTERS = 4
const LONG_CHARACTERS = 8
const TYPO_WEIGHT = 0.75
const SECOND_TYPO_WEIGHT = 0.5
const API_WEIGHT = 0.8
const FORM_WEIGHT = 0.9
/** Weight of an abbreviation for the long form, and vice versa. */
const SHORT_WEIGHT = 0.95
/**
 * Factor on the weight of synonyms if the tools contain the query word itself, because users then usually mean that
 * word.
 */
const OWN_EFFECT = 0.7
const MAX_MEANINGS = 60

/**
 * Returns all stems that match a query word: the word itself, words that begin with it, and synonyms. For an unknown
 * word, also returns words that it may be a misspelling of.
 */
export const expandWord = (word: string, vocabulary: Vocabulary, apiWordsNear: ApiWords): WordMeaning[] => {
  const meanings = new Map<string, number>()
  const add = (stem: string, weight: number): void => {
    if (vocabulary.has(stem) && (meanings.get(stem) ?? 0) < weight) meanings.set(stem, weight)
  }
  const own = stemOf(word)
  add(own, 1)
  const effect = vocabulary.has(own) ? OWN_EFFECT : 1
  if (own.length >= MIN_PREFIX_CHARACTERS) {
    for (const stem of vocabulary.withPrefix(own).slice(0, MAX_PREFIXED)) {
      add(stem, PREFIX_WEIGHT * (own.length / stem.length))
    }
  }
  const forms = baseForms(word)
  const [base = word] = forms
  // An irregular form has a different stem.
  add(stemOf(base), effect * FORM_WEIGHT)
  const related = forms.flatMap(form => apiWordsNear(form))
  for (const { word: near, weight } of related) {
    add(stemOf(near), weight === 1 ? SHORT_WEIGHT : effect * API_WEIGHT * weight)
  }
  const isKnown = vocabulary.has(own) || related.length > 0
  if (!isKnown && own.length >= MIN_TYPO_CHARACTERS) {
    const edits = own.length >= LONG_CHARACTERS ? 2 : 1
    for (const { stem, edits: made } of vocabulary.near(own, edits)) {
      add(stem, made <= 1 ? TYPO_WEIGHT : SECOND_TYPO_WEIGHT)
    }
  }
  return [...meanings]
    .map(([stem, weight]) => ({ stem, weight }))
    .sort((a, b) => b.weight - a.weight)
    .slice(0, MAX_MEANINGS)
}
