import type { Path } from '../json/path.ts'
import type { ResultDocument } from '../json/result-document.ts'
import { once } from '../kernel/once.ts'
import { linesOf } from './find-hits.ts'
import { type Paragraph, readParagraphs } from './paragraphs.ts'
import { createPassages, type Passages } from './passages.ts'
import { createPathFilter } from './place-paths.ts'
import { buildRanking, type Ranking } from './ranking.ts'
import { type JsonRecord, readRecords } from './records.ts'
import { collectTexts, type Place, type SearchableTexts, selectTexts } from './searchable-texts.ts'

export type ValueIndex = {
  /** Where the texts stand. */
  values: readonly Place[]
  names: readonly Place[]
  valueTexts: Passages
  nameTexts: Passages
  ranked: () => { records: readonly JsonRecord[]; ranking: Ranking }
}

export type JsonIndex = {
  kind: 'json'
  document: Extract<ResultDocument, { kind: 'json' }>
  /** All of it, or what stands at the paths and below. */
  within: (paths: readonly Path[]) => ValueIndex
}

export type TextIndex = {
  kind: 'text'
  document: Extract<ResultDocument, { kind: 'text' }>
  lines: Passages
  /** Where each line begins in the text. */
  lineStarts: readonly number[]
  whole: Passages
  ranked: () => { paragraphs: readonly Paragraph[]; ranking: Ranking }
}

/** What is made of a document to search it, each part with the first search that needs it. */
export type SearchIndex = JsonIndex | TextIndex | Extract<ResultDocument, { kind: 'binary' }>

const createValueIndex = (leaves: SearchableTexts): ValueIndex => ({
  values: leaves.values.places,
  names: leaves.names.places,
  valueTexts: createPassages(leaves.values.texts),
  nameTexts: createPassages(leaves.names.texts),
  ranked: once(() => {
    const records = readRecords(leaves)
    return { records, ranking: buildRanking(records.map(({ texts }) => texts)) }
  }),
})

const buildJsonIndex = (document: JsonIndex['document']): JsonIndex => {
  const leaves = once(() => collectTexts(document.value))
  const all = once(() => createValueIndex(leaves()))
  // The fields asked for last: whoever searches them again has changed the pattern.
  let last: { key: string; index: ValueIndex } | undefined
  const select = (paths: readonly Path[]): ValueIndex => {
    const isSelected = createPathFilter(paths)
    const { values, names } = leaves()
    // The name that a path ends with is no part of what it leads to.
    return createValueIndex({
      values: selectTexts(values, isSelected),
      names: selectTexts(names, ({ parent }) => parent !== undefined && isSelected(parent)),
    })
  }
  const within = (paths: readonly Path[]): ValueIndex => {
    if (paths.length === 0) return all()
    const key = JSON.stringify(paths)
    if (last?.key !== key) last = { key, index: select(paths) }
    return last.index
  }
  return { kind: 'json', document, within }
}

const buildTextIndex = (document: TextIndex['document']): TextIndex => {
  const { text } = document
  const spans = [...linesOf(text)]
  return {
    kind: 'text',
    document,
    lines: createPassages(spans.map(({ start, end }) => text.slice(start, end))),
    lineStarts: spans.map(({ start }) => start),
    whole: createPassages([text]),
    ranked: once(() => {
      const paragraphs = readParagraphs(text)
      return { paragraphs, ranking: buildRanking(paragraphs.map(({ span }) => [text.slice(span.start, span.end)])) }
    }),
  }
}

/** Makes a document ready for searching; what a search takes besides is made with the first one, and kept. */
export const buildIndex = (document: ResultDocument): SearchIndex => {
  switch (document.kind) {
    case 'json':
      return buildJsonIndex(document)
    case 'text':
      return buildTextIndex(document)
    case 'binary':
      return document
  }
}
