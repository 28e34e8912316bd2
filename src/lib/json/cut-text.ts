import type { TextDocument } from './result-document.ts'

type TextFormat = TextDocument['format']

/** Share of the text, measured from its end, that is searched for a place to cut. */
const BORDER_SHARE = 0.25

const BORDERS: Record<TextFormat, readonly RegExp[]> = {
  text: [/\n\s*\n/g, /\n/g, /[.!?。！？](?=\s|$)/g, /\s/g],
  html: [/<\/(?:p|div|section|article|li|tr|table|h[1-6])>/gi, />/g, /\n/g, /\s/g],
  xml: [/<\/[\w:.-]+>/g, />/g, /\n/g, /\s/g],
}

const lastEndOf = (text: string, border: RegExp): number => {
  let end = -1
  for (const { index, 0: match } of text.matchAll(border)) end = index + match.length
  return end
}

/** Returns `end`, or `end - 1` if cutting there would split a surrogate pair. */
export const endOfCharacter = (text: string, end: number): number => {
  const last = text.charCodeAt(end - 1)
  return last >= 0xd800 && last <= 0xdbff ? end - 1 : end
}

/** Cuts text to at most `maxCharacters`, at the end of a paragraph, line, sentence or word if possible. */
export const cutText = (text: string, maxCharacters: number, format: TextFormat): string => {
  if (text.length <= maxCharacters) return text
  const end = endOfCharacter(text, Math.max(0, maxCharacters))
  const from = Math.floor(end * (1 - BORDER_SHARE))
  const tail = text.slice(from, end)
  for (const border of BORDERS[format]) {
    const at = lastEndOf(tail, border)
    if (at > 0) return text.slice(0, from + at).trimEnd()
  }
  return text.slice(0, end)
}

/** Returns the text if it is short enough, or else its beginning with an ellipsis. */
export const shorten = (text: string, maxCharacters: number): string =>
  text.length > maxCharacters ? `${text.slice(0, maxCharacters)}…` : text
