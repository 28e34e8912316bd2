import { stemmer } from 'stemmer'
import { splitNames } from '../../lib/search/split-words.ts'

/** Words that carry no meaning in a search, including question words. */
const STOP_WORDS: ReadonlySet<string> = new Set(
  `a about all also am an and any are as at be been being but by can could did do does doing for from had has have having
  he her here him his how i if in into is it its itself just let lets may me might more most must my of on once only or
  our out over own please shall she should so some such than that the their them then there these they this those to too
  under up us very want wants was we were what when where which while why will with within would you your
  s t re ve ll d m e g eg ie etc i'd need needs via per each every`.split(/\s+/),
)

/** Maximum length of a word. Longer words are tokens or hashes and are ignored. */
const MAX_WORD_CHARACTERS = 40

/** Splits a text or name into the words that indexes and queries use. */
export const searchWordsOf = (text: string): string[] =>
  splitNames(text).filter(word => word.length <= MAX_WORD_CHARACTERS)

export const isStopWord = (word: string): boolean => STOP_WORDS.has(word)

/** Returns the stem of an English word, so that `merged` and `merging` match. Leaves other words unchanged. */
export const stemOf = (word: string): string => (/^[a-z]{3,}$/.test(word) ? stemmer(word) : word)
