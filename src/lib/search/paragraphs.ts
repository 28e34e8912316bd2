import { linesOf } from './find-hits.ts'
import type { Span } from './matcher.ts'

/** A paragraph of a text. Lines count from 1. */
export type Paragraph = { readonly span: Span; readonly firstLine: number; readonly lastLine: number }

/** A longer paragraph is split at the end of a line. */
const MAX_PARAGRAPH_CHARS = 1_200
/** Where a longer line is split: after a sentence, a tag or a blank. */
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

/** Splits a text at empty lines, and long paragraphs into parts of some lines each. */
export const readParagraphs = (text: string): readonly Paragraph[] => {
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
