import { type JsonValue, parseIfJson } from '../kernel/json.ts'

const QUOTE = 0x22
const BACKSLASH = 0x5c
/** If the complete items of a list make up this share of the text, an item of it that is incomplete is left out. */
const ITEMS_SHARE = 1 / 2

/** Closing bracket by opening bracket. */
const CLOSING: Readonly<Record<string, string>> = { '{': '}', '[': ']' }

/** A place where the text can end, and the number of brackets that are open there. */
type End = { at: number; depth: number }

/** Returns the number of characters of an escape sequence, such as `\n` or `\u00e9`. */
const escapeLength = (text: string, at: number): number => (text.charAt(at + 1) === 'u' ? 6 : 2)

/**
 * Returns the position of a string's closing quote. If there is none, returns where its last complete character ends: at
 * the start of an escape sequence that the text breaks off, or at the end of the text.
 */
const endOfString = (text: string, start: number): number => {
  let at = start + 1
  while (at < text.length && text.charCodeAt(at) !== QUOTE) {
    const next = at + (text.charCodeAt(at) === BACKSLASH ? escapeLength(text, at) : 1)
    if (next > text.length) return at
    at = next
  }
  return at
}

/**
 * Finds the last place where all values so far are complete, and the string that has no end. `closing` has a
 * bracket for each one that is open at the end of the text, outermost first. `listEnds` are the ends of the last complete
 * items of the lists that are open there, by the number of brackets open around them.
 */
const scan = (text: string) => {
  const closing: string[] = []
  const listEnds: number[] = []
  let end: End | undefined
  const endAt = (at: number): void => {
    const depth = closing.length
    end = { at, depth }
    if (closing[depth - 1] === ']') listEnds[depth] = at
  }
  for (let at = 0; at < text.length; at++) {
    const char = text.charAt(at)
    const opened = CLOSING[char]
    if (char === '"') {
      const last = endOfString(text, at)
      if (text.charCodeAt(last) !== QUOTE) return { end, closing, listEnds, openString: { start: at, end: last } }
      at = last
    } else if (opened !== undefined) closing.push(opened)
    else if (char === '}' || char === ']') {
      closing.pop()
      // More text follows the first value, so the text is not one value of JSON.
      if (closing.length === 0) return { end: undefined, closing, listEnds, openString: undefined }
      listEnds.length = Math.min(listEnds.length, closing.length + 1)
      endAt(at + 1)
    } else if (char === ',') endAt(at)
  }
  return { end, closing, listEnds, openString: undefined }
}

/** Matches the first half of a character at the end of a text that lacks its second. */
const HALF_CHARACTER = /[\ud800-\udbff]$/

type Closed = { text: string; value: JsonValue }

const toClosed = (text: string, closing: readonly string[]): Closed | undefined => {
  const closed = `${text}${closing.toReversed().join('')}`
  const value = parseIfJson(closed)
  const hasContent = typeof value === 'object' && value !== null && Object.keys(value).length > 0
  return hasContent ? { text: closed, value } : undefined
}

/**
 * Returns the beginning of a JSON text as valid JSON: the values that are complete in it. A long string that has no end
 * in it is cut. Returns undefined if nothing is complete, or if the text is not the beginning of a list or object. Takes
 * time proportional to the text.
 */
export const closeJson = (text: string): Closed | undefined => {
  if (!/^\s*[[{]/.test(text)) return undefined
  const { end, closing, listEnds, openString } = scan(text)
  const outermost = listEnds.findIndex(at => at >= text.length * ITEMS_SHARE)
  if (outermost !== -1) return toClosed(text.slice(0, listEnds[outermost]), closing.slice(0, outermost))
  // Otherwise little would be left of a list or object that begins with a long string.
  if (openString !== undefined && openString.start < text.length / 2) {
    const beginning = text.slice(0, openString.end).replace(HALF_CHARACTER, '')
    const closed = toClosed(`${beginning}…"`, closing)
    if (closed !== undefined) return closed
  }
  return end === undefined ? undefined : toClosed(text.slice(0, end.at), closing.slice(0, end.depth))
}
