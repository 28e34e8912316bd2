import { type ParseErrorCode, printParseErrorCode, visit } from 'jsonc-parser'

/** A syntax error and its position. Lines and columns start at 1. Columns are counted in characters. */
export type JsonFault = { line: number; column: number; message: string }

/** Far deeper than any JSON that we accept. The parser is recursive, so it needs a limit. */
const MAX_DEPTH = 500

const UNKNOWN = 'invalid JSON'

const MESSAGES: Readonly<Record<string, string>> = {
  InvalidSymbol: 'unexpected text; write strings and keys in double quotes',
  InvalidNumberFormat: 'invalid number',
  UnexpectedEndOfNumber: 'invalid number',
  PropertyNameExpected: 'a key in double quotes is missing',
  ValueExpected: 'a value is missing',
  ColonExpected: 'a colon is missing after the key',
  CloseBraceExpected: '} is missing',
  CloseBracketExpected: '] is missing',
  EndOfFileExpected: 'unexpected text after the end of the JSON',
  InvalidCommentToken: 'comments are not allowed in JSON',
  UnexpectedEndOfString: 'the string that starts here has no closing " on this line; write line breaks as \\n',
  InvalidUnicode: 'the string that starts here has an invalid \\u escape',
  InvalidEscapeCharacter: 'the string that starts here has an invalid escape; write \\ as \\\\',
  InvalidCharacter: 'the string that starts here has a control character; write it as an escape such as \\t',
}

const faultAt = (text: string, offset: number, message: string): JsonFault => {
  const before = text.slice(0, offset).split('\n')
  return { line: before.length, column: [...(before.at(-1) ?? '')].length + 1, message }
}

const describe = (text: string, code: ParseErrorCode, offset: number): JsonFault => {
  const next = text.charAt(offset)
  const before = text.slice(0, offset).trimEnd()
  // Points to the comma, because it is the character to delete.
  if ((next === '}' || next === ']' || next === ',') && before.endsWith(',')) {
    return faultAt(text, before.length - 1, `delete this comma: ${next} follows`)
  }
  const name = printParseErrorCode(code)
  if (name !== 'CommaExpected') return faultAt(text, offset, MESSAGES[name] ?? UNKNOWN)
  if (next === '}') return faultAt(text, offset, 'a comma or ] is missing')
  if (next === ']') return faultAt(text, offset, 'a comma or } is missing')
  const hasLeadingZero = /\d/.test(next) && text.charAt(offset - 1) === '0'
  return faultAt(text, hasLeadingZero ? offset - 1 : offset, hasLeadingZero ? 'invalid number' : 'a comma is missing')
}

/** Finds the first syntax error. Returns undefined if the text is valid JSON. */
export const findJsonFault = (text: string): JsonFault | undefined => {
  try {
    JSON.parse(text)
    return undefined
  } catch {
    return findFirstFault(text) ?? { line: 1, column: 1, message: UNKNOWN }
  }
}

const findFirstFault = (text: string): JsonFault | undefined => {
  let fault: JsonFault | undefined
  let depth = 0
  const open = (offset: number): void => {
    if (++depth <= MAX_DEPTH) return
    fault ??= faultAt(text, offset, `nested more than ${MAX_DEPTH} levels deep`)
    throw new RangeError(fault.message)
  }
  const close = (): void => {
    depth--
  }
  const onError = (code: ParseErrorCode, offset: number): void => {
    fault ??= describe(text, code, offset)
  }
  const visitor = { onObjectBegin: open, onArrayBegin: open, onObjectEnd: close, onArrayEnd: close, onError }
  try {
    visit(text, visitor, { disallowComments: true })
  } catch (error) {
    if (fault === undefined) throw error
  }
  return fault
}

/** Formats a fault, for example `line 3, column 12: delete this comma: } follows`. */
export const describeJsonFault = ({ line, column, message }: JsonFault): string =>
  `line ${line}, column ${column}: ${message}`
