import { linesOf } from './find-hits.ts'
import type { Span } from './matcher.ts'

/** A paragraph of a text, with its lines from 1. */
export type Paragraph = { readonly span: Span; readonly firstLine: number; readonly lastLine: number }

/** A paragraph is parted at the end of a line when it would become longer. */
const MAX_PARAGRAPH_CHARS = 1_200
/** Where a line is parted, if it is longer still: behind a sentence, a tag or a blank. */
const PART_ENDS = ['. ', '>', ' ']

/** Where a part of a line that is too long ends. */
const partEnd = (text: string, start: number, end: number): number => {
  const most = start + MAX_PARAGRAPH_CHARS
  if (end <= most) return end
  const window = text.slice(start, most)
  for (const ending of PART_ENDS) {
    const at = window.lastIndexOf(ending)
    if (at > MAX_PARAGRAPH_CHARS / 2) return start + at + ending.length
  }
  return most
}

/** What stands between empty lines; what is long, or has no empty lines, in parts of some lines each. */
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
