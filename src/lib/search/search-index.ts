import { type Heading, readHeadings } from '../json/headings.ts'
import type { Path } from '../json/path.ts'
import type { JsonDocument, ResultDocument, TextDocument } from '../json/result-document.ts'
import { once } from '../kernel/once.ts'
import { linesOf } from './find-hits.ts'
import type { Span } from './matcher.ts'
import { createPathFilter } from './place-paths.ts'
import { buildRanking, type Ranking } from './ranking.ts'
import { type JsonRecord, readRecords } from './records.ts'
import { collectTexts, type SearchableTexts, selectTexts } from './searchable-texts.ts'

/** A paragraph of a text. Line numbers start at 1. */
type Paragraph = { readonly span: Span; readonly firstLine: number; readonly lastLine: number }

/** Longer paragraphs are split at the end of a line. */
const MAX_PARAGRAPH_CHARS = 1_200
/** Where longer lines are split: after a sentence, a tag or a space. */
const SPLIT_AFTER = ['. ', '>', ' ']

/** Returns where the first part of a long line ends. */
const partEnd = (text: string, start: number, end: number): number => {
  const most = start + MAX_PARAGRAPH_CHARS
  if (end <= most) return end
  const window = text.slice(start, most)
  for (const ending of SPLIT_AFTER) {
    const at = window.lastIndexOf(ending)
    if (at > MAX_PARAGRAPH_CHARS / 2) return start + at + ending.length
  }
  return most
}

/** Splits a text at empty lines, and long paragraphs into parts of a few lines each. */
const readParagraphs = (text: string): readonly Paragraph[] => {
  const paragraphs: Paragraph[] = []
  let open: Paragraph | undefined
  const close = () => {
    if (open !== undefined) paragraphs.push(open)
    open = undefined
  }
  let line = 0
  for (const { start, end } of linesOf(text)) {
    line++
    if (text.slice(start, end).trim() === '') {
      close()
      continue
    }
    if (open !== undefined && end - open.span.start > MAX_PARAGRAPH_CHARS) close()
    for (let from = start; from < end; ) {
      const to = partEnd(text, from, end)
      if (from > start) close()
      open = { span: { start: open?.span.start ?? from, end: to }, firstLine: open?.firstLine ?? line, lastLine: line }
      from = to
    }
  }
  close()
  return paragraphs
}

export type ValueIndex = SearchableTexts & {
  ranked: () => { records: readonly JsonRecord[]; ranking: Ranking }
}

export type JsonIndex = {
  kind: 'json'
  document: JsonDocument
  /** Returns the index of the whole document, or only of the values at and below the paths. */
  within: (paths: readonly Path[]) => ValueIndex
}

export type TextIndex = {
  kind: 'text'
  document: TextDocument
  lines: readonly string[]
  lineStarts: readonly number[]
  headings: () => readonly Heading[]
  ranked: () => { paragraphs: readonly Paragraph[]; ranking: Ranking }
}

/** The index of a document. Each part is built by the first search that needs it. */
export type SearchIndex = JsonIndex | TextIndex | Extract<ResultDocument, { kind: 'binary' }>

const createValueIndex = (texts: SearchableTexts): ValueIndex => ({
  ...texts,
  ranked: once(() => {
    const records = readRecords(texts)
    return { records, ranking: buildRanking(records.map(({ texts }) => texts)) }
  }),
})

const buildJsonIndex = (document: JsonDocument): JsonIndex => {
  const texts = once(() => collectTexts(document.value))
  const all = once(() => createValueIndex(texts()))
  // The index for the most recent fields, because often only the pattern changes between searches.
  let last: { key: string; index: ValueIndex } | undefined
  const select = (paths: readonly Path[]): ValueIndex => {
    const isSelected = createPathFilter(paths)
    const { values, names } = texts()
    // A path selects only the names below its last name.
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

const buildTextIndex = (document: TextDocument): TextIndex => {
  const { text } = document
  const spans = [...linesOf(text)]
  const lines = spans.map(({ start, end }) => text.slice(start, end))
  return {
    kind: 'text',
    document,
    lines,
    lineStarts: spans.map(({ start }) => start),
    headings: once(() => (document.format === 'text' ? readHeadings(lines) : [])),
    ranked: once(() => {
      const paragraphs = readParagraphs(text)
      return { paragraphs, ranking: buildRanking(paragraphs.map(({ span }) => [text.slice(span.start, span.end)])) }
    }),
  }
}

/** Creates the index of a document. Its parts are built when they are first needed. */
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
