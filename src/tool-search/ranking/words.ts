import { stemmer } from 'stemmer'

/** Words that say nothing of what is looked for; those of questions among them. */
const STOP_WORDS: ReadonlySet<string> = new Set(
  `a about all also am an and any are as at be been being but by can could did do does doing for from had has have having
  he her here him his how i if in into is it its itself just let lets may me might more most must my of on once only or
  our out over own please shall she should so some such than that the their them then there these they this those to too
  under up us very want wants was we were what when where which while why will with within would you your
  s t re ve ll d m e g eg ie etc i'd need needs via per each every`.split(/\s+/),
)

/** Longest word that is looked at, in characters: what is longer is no word, such as a token. */
const MAX_WORD_CHARACTERS = 40

/** Where a name of code has a border: `listSites`, `HTTPServer`, `sha256Sum`. */
const CAMEL_BORDER = /(?<=\p{Ll}|\d)(?=\p{Lu})|(?<=\p{Lu})(?=\p{Lu}\p{Ll})/gu
const WORD = /[\p{L}\p{M}]+|\p{N}+/gu

const fold = (text: string): string =>
  text
    .normalize('NFKD')
    .replaceAll(/\p{M}+/gu, '')
    .toLowerCase()

/** The words of a text or a name, in lower case, without accents: `createDnsZone` and `dns-zone` have `dns` and `zone`. */
export const splitWords = (text: string): string[] => {
  const plain = fold(text.replaceAll(/(?<=\p{L})['’](?=\p{L})/gu, '').replaceAll(CAMEL_BORDER, ' '))
  return (plain.match(WORD) ?? []).filter(word => word.length <= MAX_WORD_CHARACTERS)
}

export const isStopWord = (word: string): boolean => STOP_WORDS.has(word)

/** What a word is counted as, so that `merged` and `merging` are one. English alone is stemmed; others stay as they are. */
export const stemOf = (word: string): string => (/^[a-z]{3,}$/.test(word) ? stemmer(word) : word)
