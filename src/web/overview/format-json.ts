import { findJsonFault } from '../kernel/index.ts'

/** A piece of a formatted text; keys are told apart from the rest. */
export type JsonSegment = { text: string; isKey: boolean }

const TOKEN = /"(?:[^"\\]|\\.)*"|[{}[\],:]|[^\s{}[\],:"]+/g
const INDENT = '  '
/** Deeper, a text is no easier to read for being indented further. */
const MAX_DEPTH = 40
/** An array or object without others inside stays on one line up to this length, in characters. */
const ONE_LINE_CHARACTERS = 64

const isOpening = (token: string | undefined): boolean => token === '{' || token === '['
const isClosing = (token: string | undefined): boolean => token === '}' || token === ']'

/** Where the array or object that begins at `from` ends, if it is short and holds no other; else undefined. */
const endOfShort = (tokens: readonly string[], from: number): number | undefined => {
  let characters = 0
  for (let at = from + 1; at < tokens.length && characters <= ONE_LINE_CHARACTERS; at++) {
    const token = tokens[at]
    if (isClosing(token)) return at
    if (isOpening(token)) return undefined
    characters += (token?.length ?? 0) + 1
  }
  return undefined
}

/**
 * A JSON text laid out for reading; undefined where it is none. Numbers and texts stay as they were written, however
 * long: nothing is parsed into a value.
 */
export const formatJson = (json: string): JsonSegment[] | undefined => {
  if (findJsonFault(json) !== undefined) return undefined
  const tokens = json.match(TOKEN) ?? []
  const segments: JsonSegment[] = []
  let text = ''
  let depth = 0
  /** Up to here all stands on one line. */
  let lineEnd = -1
  const breakLine = (at: number): void => {
    text += at < lineEnd ? ' ' : `\n${INDENT.repeat(Math.min(depth, MAX_DEPTH))}`
  }
  tokens.forEach((token, at) => {
    const isEmpty = isClosing(token) && isOpening(tokens[at - 1])
    if (isClosing(token)) {
      depth--
      if (at === lineEnd) text += token === '}' && !isEmpty ? ' ' : ''
      else if (!isEmpty) breakLine(at)
    }
    if (tokens[at + 1] === ':' && token.startsWith('"')) {
      segments.push({ text, isKey: false }, { text: token, isKey: true })
      text = ''
    } else text += token
    if (token === ':') text += ' '
    if (token === ',') breakLine(at)
    if (!isOpening(token)) return
    depth++
    if (at > lineEnd) lineEnd = endOfShort(tokens, at) ?? lineEnd
    if (isClosing(tokens[at + 1])) return
    if (at < lineEnd) text += token === '{' ? ' ' : ''
    else breakLine(at)
  })
  return [...segments, { text, isKey: false }].filter(segment => segment.text !== '')
}
