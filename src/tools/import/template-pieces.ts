import type { ParameterType, Serialization } from '../../templates/template.ts'

export type ParameterPiece = {
  kind: 'parameter'
  name: string
  type: ParameterType
  isOptional?: boolean | undefined
  serialization?: Serialization | undefined
}
/** A literal text, or a parameter. */
export type Piece = { kind: 'text'; text: string } | ParameterPiece

export const textPiece = (text: string): Piece => ({ kind: 'text', text })

/**
 * How a field of a template is written. `pairs` is as in `scanTemplate`; `openBrace` stands for a `{` directly before
 * a placeholder, where `{{{` would be ambiguous.
 */
export type Writing = { pairs: 'halve' | 'keep'; openBrace: string | undefined }

export const URL_WRITING: Writing = { pairs: 'halve', openBrace: '%7B' }
export const JSON_WRITING: Writing = { pairs: 'keep', openBrace: '\\u007b' }
export const TEXT_WRITING: Writing = { pairs: 'halve', openBrace: undefined }

/** Joins neighbouring texts. */
export const joinTexts = (pieces: readonly Piece[]): readonly Piece[] => {
  const joined: Piece[] = []
  let texts: string[] = []
  const flush = (): void => {
    if (texts.length > 0) joined.push(textPiece(texts.join('')))
    texts = []
  }
  for (const piece of pieces) {
    if (piece.kind === 'text') texts.push(piece.text)
    else {
      flush()
      joined.push(piece)
    }
  }
  flush()
  return joined
}

const countTrailingBackslashes = (text: string): number => {
  let at = text.length
  while (text[at - 1] === '\\') at--
  return text.length - at
}

/** Doubles the backslashes at the end of a text, where they would be halved. */
const beforeBraces = (text: string, { pairs }: Writing): string =>
  pairs === 'halve' ? text + '\\'.repeat(countTrailingBackslashes(text)) : text

/** Writes literal text. Returns undefined if it cannot be written before a placeholder. */
const writeText = (text: string, writing: Writing, isBeforePlaceholder: boolean): string | undefined => {
  const chunks = text.split('{{')
  const last = chunks.pop() ?? ''
  const escaped = chunks.map(chunk => `${beforeBraces(chunk, writing)}\\{{`).join('')
  if (!isBeforePlaceholder) return escaped + last
  if (last.endsWith('{')) {
    return writing.openBrace === undefined ? undefined : escaped + last.slice(0, -1) + writing.openBrace
  }
  if (writing.pairs === 'keep' && countTrailingBackslashes(last) % 2 === 1) return undefined
  return escaped + beforeBraces(last, writing)
}

const writePlaceholder = ({ name, type, isOptional, serialization }: ParameterPiece): string =>
  [
    '{{',
    type === 'string' ? '' : `${type}:`,
    name,
    isOptional === true ? '?' : '',
    serialization === undefined ? '' : ` | ${serialization}`,
    '}}',
  ].join('')

/**
 * Writes a field of a template, in which literal braces are escaped. Returns undefined if a `{` is directly before a
 * placeholder and cannot be written otherwise.
 */
export const writeTemplate = (pieces: readonly Piece[], writing: Writing): string | undefined => {
  const joined = joinTexts(pieces)
  const written: string[] = []
  for (const [index, piece] of joined.entries()) {
    const text =
      piece.kind === 'parameter' ? writePlaceholder(piece) : writeText(piece.text, writing, index < joined.length - 1)
    if (text === undefined) return undefined
    written.push(text)
  }
  return written.join('')
}
