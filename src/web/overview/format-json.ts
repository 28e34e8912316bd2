import { findJsonFault } from '../../lib/kernel/json-fault.ts'

/** A segment of formatted JSON text. `isKey` is true if it is an object key. */
export type JsonSegment = { text: string; isKey: boolean }

const TOKEN = /"(?:[^"\\]|\\.)*"|[{}[\],:]|[^\s{}[\],:"]+/g
const INDENT = '  '
/** Nesting depth beyond which the indentation stops growing. */
const MAX_DEPTH = 40
/** Maximum length, in characters, of an array or object on one line. It must not contain others. */
const ONE_LINE_CHARACTERS = 64

const isOpening = (token: string | undefined): boolean => token === '{' || token === '['
const isClosing = (token: string | undefined): boolean => token === '}' || token === ']'

/**
 * Returns the index of the token that closes the array or object opened at `from`, provided that it is short and
 * contains no other array or object.
 */
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
 * Formats JSON text for reading. Returns undefined if it is not valid JSON. Works on tokens instead of parsed values,
 * so that numbers and strings keep their exact spelling.
 */
export const formatJson = (json: string): JsonSegment[] | undefined => {
  if (findJsonFault(json) !== undefined) return undefined
  const tokens = json.match(TOKEN) ?? []
  const segments: JsonSegment[] = []
  let text = ''
  let depth = 0
  /** Index of the token that closes the array or object being kept on one line. */
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
