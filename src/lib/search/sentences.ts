import type { Span } from './matcher.ts'

/** Paragraphs up to this length are shown whole. */
const MAX_PARAGRAPH_CHARS = 600
/** Characters considered on either side of a match. */
const MAX_REACH_CHARS = 1_500
/** Characters shown on either side if no sentence ends there. */
const FALLBACK_CHARS = 150

/** Matches the end of a sentence in Western and Asian scripts, or the end of a line. */
const SENTENCE_END = /[.!?…]["'”’»)\]]*\s+|[。！？]["”’»）」』]*|\n+/gu
const PARAGRAPH_BREAK = /\n[^\S\n]*\r?\n/g

const lastBreakBefore = (text: string, from: number, to: number): number => {
  let found = -1
  for (const match of text.slice(from, to).matchAll(PARAGRAPH_BREAK)) found = from + match.index + match[0].length
  return found
}

const paragraphAround = (text: string, span: Span): Span => {
  const from = Math.max(0, span.start - MAX_REACH_CHARS)
  const to = Math.min(text.length, span.end + MAX_REACH_CHARS)
  const start = lastBreakBefore(text, from, span.start)
  const rest = text.slice(span.end, to).search(PARAGRAPH_BREAK)
  return { start: start === -1 ? from : start, end: rest === -1 ? to : span.end + rest }
}

const trim = (text: string, { start, end }: Span): Span => {
  let from = start
  let to = end
  while (from < to && text.charAt(from).trim() === '') from++
  while (to > from && text.charAt(to - 1).trim() === '') to--
  return { start: from, end: to }
}

/** Returns the context of a match: its paragraph, or its sentence with `sentences` more on either side. */
export const contextAround = (text: string, span: Span, sentences: number): Span => {
  const paragraph = paragraphAround(text, span)
  if (paragraph.end - paragraph.start <= MAX_PARAGRAPH_CHARS) return trim(text, paragraph)
  const ends = [...text.slice(paragraph.start, paragraph.end).matchAll(SENTENCE_END)].map(
    match => paragraph.start + match.index + match[0].length,
  )
  const before = ends.filter(end => end <= span.start)
  const after = ends.filter(end => end >= span.end)
  const start = before.at(-1 - sentences) ?? (before.length > 0 ? paragraph.start : span.start - FALLBACK_CHARS)
  const end = after[sentences] ?? (after.length > 0 ? paragraph.end : span.end + FALLBACK_CHARS)
  return trim(text, { start: Math.max(paragraph.start, start), end: Math.min(paragraph.end, end) })
}
