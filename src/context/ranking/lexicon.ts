import { LRUCache } from 'lru-cache'
import { PARTS_OF_SPEECH, type PartOfSpeech, type WordNetFiles } from './wordnet-files.ts'
import { isStopWord, splitWords } from './words.ts'

/** A word that means something near, and how near: 1 is the same. */
export type RelatedWord = { word: string; weight: number }

export type Lexicon = {
  /** Words near a word in lower case, as written or in its base form; none of a word that is not known. */
  relatedTo: (word: string) => readonly RelatedWord[]
  /** Words that the meaning of a word is told in. */
  glossOf: (word: string) => readonly RelatedWord[]
}

/** Senses of a word that are looked at: they come in the order of how common they are. */
const MAX_SENSES = 4
/** By how much each sense counts less than the one before it. */
const SENSE_DECAY = 0.8

const WEIGHTS = { same: 0.75, derived: 0.7, narrower: 0.4, wider: 0.45, near: 0.5, gloss: 0.3 }

/** Pointers between synsets (wninput(5WN)), by what they are worth here. */
const POINTERS: ReadonlyMap<string, number> = new Map([
  ['+', WEIGHTS.derived],
  ['@', WEIGHTS.wider],
  ['~', WEIGHTS.narrower],
  ['&', WEIGHTS.near],
  ['$', WEIGHTS.near],
  ['^', WEIGHTS.near],
  ['*', WEIGHTS.near],
  ['>', WEIGHTS.near],
  ['\\', WEIGHTS.derived],
])
/** Narrower words that are looked at, of one sense: some have hundreds. */
const MAX_NARROWER = 24

const PART_OF_SIGN: Readonly<Record<string, PartOfSpeech>> = { n: 'noun', v: 'verb', a: 'adj', s: 'adj', r: 'adv' }

const NEWLINE = 10

/** The line of a file whose lines are sorted that begins with the lemma; found by halving. */
const findLine = (index: Buffer, lemma: string): string | undefined => {
  let low = 0
  let high = index.length
  while (low < high) {
    const middle = (low + high) >> 1
    const start = index.lastIndexOf(NEWLINE, middle - 1) + 1
    const end = index.indexOf(NEWLINE, middle)
    const line = index.toString('latin1', start, end < 0 ? index.length : end)
    const found = line.slice(0, line.indexOf(' '))
    if (found === lemma) return line
    // The licence stands above, each line of it indented.
    if (found === '' || found < lemma) low = (end < 0 ? index.length : end) + 1
    else high = start
  }
  return undefined
}

const offsetsOf = (line: string): number[] => {
  const fields = line.trim().split(' ')
  const senses = Number(fields[2])
  return fields.slice(fields.length - senses).map(Number)
}

type Pointer = { weight: number; sign: string; part: PartOfSpeech; offset: number }
type Synset = { words: string[]; pointers: Pointer[]; gloss: string }

const readSynset = (data: Buffer, offset: number): Synset => {
  const end = data.indexOf(NEWLINE, offset)
  const line = data.toString('latin1', offset, end < 0 ? data.length : end)
  const bar = line.indexOf(' | ')
  const fields = line.slice(0, bar).split(' ')
  const count = Number.parseInt(fields[3] ?? '0', 16)
  const words = Array.from({ length: count }, (_, at) =>
    (fields[4 + at * 2] ?? '').replace(/\(\w+\)$/, '').toLowerCase(),
  )
  const start = 4 + count * 2
  const pointers: Pointer[] = []
  for (let at = start + 1; at + 3 < fields.length && pointers.length < Number(fields[start]); at += 4) {
    const sign = fields[at] ?? ''
    const weight = POINTERS.get(sign)
    const part = PART_OF_SIGN[fields[at + 2] ?? '']
    if (weight !== undefined && part !== undefined)
      pointers.push({ weight, sign, part, offset: Number(fields[at + 1]) })
  }
  return { words, pointers, gloss: line.slice(bar + 3).split('; "')[0] ?? '' }
}

/** Forms that no rule leads back from, of common verbs and nouns. */
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

/** The word, and what it may be a form of. */
export const baseForms = (word: string): string[] => {
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

/** Words whose neighbours are kept: a question has few, and some come again and again. */
const KEPT_WORDS = 2_000

/** What WordNet says of words; reads a few lines of its files for each. */
export const createLexicon = (files: WordNetFiles): Lexicon => {
  const sensesOf = (word: string): { synset: Synset; weight: number }[] =>
    PARTS_OF_SPEECH.flatMap(part => {
      const { index, data } = files[part]
      for (const form of baseForms(word)) {
        const line = findLine(index, form)
        if (line === undefined) continue
        return offsetsOf(line)
          .slice(0, MAX_SENSES)
          .map((offset, rank) => ({ synset: readSynset(data, offset), weight: SENSE_DECAY ** rank }))
      }
      return []
    })

  const createCollector = (word: string) => {
    const found = new Map<string, number>()
    return {
      add: (other: string, weight: number): void => {
        // Of several words none is a word of a text; their parts say little.
        if (other === word || other.includes('_') || (found.get(other) ?? 0) >= weight) return
        found.set(other, weight)
      },
      list: (): RelatedWord[] => [...found].map(([near, weight]) => ({ word: near, weight })),
    }
  }

  const findRelated = (word: string): readonly RelatedWord[] => {
    const { add, list } = createCollector(word)
    const irregular = IRREGULAR.get(word)
    if (irregular !== undefined) add(irregular, 1)
    for (const { synset, weight } of sensesOf(word)) {
      for (const same of synset.words) add(same, weight * WEIGHTS.same)
      let narrower = 0
      for (const pointer of synset.pointers) {
        if (pointer.sign === '~' && ++narrower > MAX_NARROWER) continue
        const { words } = readSynset(files[pointer.part].data, pointer.offset)
        for (const near of words) add(near, weight * pointer.weight)
      }
    }
    return list()
  }
  const related = new LRUCache<string, readonly RelatedWord[]>({ max: KEPT_WORDS })

  return {
    relatedTo: word => {
      const known = related.get(word) ?? findRelated(word)
      related.set(word, known)
      return known
    },
    glossOf: word => {
      const { add, list } = createCollector(word)
      for (const { synset, weight } of sensesOf(word)) {
        for (const told of splitWords(synset.gloss)) if (!isStopWord(told)) add(told, weight * WEIGHTS.gloss)
      }
      return list()
    },
  }
}
