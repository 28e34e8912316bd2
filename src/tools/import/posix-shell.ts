import {
  BLANK,
  BLANKS,
  quotedToken,
  type ReadToken,
  type ShellState,
  type ShellToken,
  SKIP,
  takeLineBreak,
  takeOperator,
  textToken,
} from './shell-token.ts'
import { takeBackticks, takeDollar } from './shell-variables.ts'
import type { TextCursor } from './text-cursor.ts'
import { notClosed } from './text-fault.ts'
import type { VariableList } from './variable-marks.ts'

/** Escapes in `$'…'` (bash manual, ANSI-C quoting). */
const ANSI_ESCAPES: Readonly<Record<string, string>> = {
  a: '\x07',
  b: '\b',
  e: '\x1b',
  E: '\x1b',
  f: '\f',
  n: '\n',
  r: '\r',
  t: '\t',
  v: '\v',
  '\\': '\\',
  "'": "'",
  '"': '"',
  '?': '?',
}

const fromCode = (code: number): string => {
  // NUL ends a text in a shell, and a text here contains it only as a mark.
  if (code === 0) return ''
  return code > 0x10_ff_ff ? '\ufffd' : String.fromCodePoint(code)
}

const utf8 = new TextDecoder()

/** Decodes neighbouring `\xHH` and `\NNN` together, because they are bytes of UTF-8. */
const takeBytes = (cursor: TextCursor): string => {
  const run = cursor.take(/(?:\\x[0-9A-Fa-f]{1,2}|\\[0-7]{1,3})+/y)
  if (run === '') return ''
  const bytes = run
    .split('\\')
    .slice(1)
    .map(code => (code.startsWith('x') ? Number.parseInt(code.slice(1), 16) : Number.parseInt(code, 8)))
  return utf8.decode(Uint8Array.from(bytes.filter(byte => byte % 256 !== 0)))
}

const takeAnsiEscape = (cursor: TextCursor): string => {
  const bytes = takeBytes(cursor)
  if (bytes !== '') return bytes
  const unicode = cursor.take(/\\u[0-9A-Fa-f]{1,4}|\\U[0-9A-Fa-f]{1,8}/y)
  if (unicode !== '') return fromCode(Number.parseInt(unicode.slice(2), 16))
  const control = cursor.take(/\\c./sy)
  if (control !== '') return fromCode(control.charCodeAt(2) & 0x1f)
  const written = cursor.take(/\\.?/sy)
  return ANSI_ESCAPES[written.slice(1)] ?? written
}

const takeAnsiQuoted = (cursor: TextCursor): string => {
  const start = cursor.offset()
  cursor.take(/\$'/y)
  let text = ''
  while (cursor.peek() !== "'") {
    if (cursor.isAtEnd()) throw notClosed('quote', start)
    text += cursor.take(/[^\\']+/y) || takeAnsiEscape(cursor)
  }
  cursor.take(/'/y)
  return text
}

/** Reads text as in double quotes, up to a quote that is not escaped or, in a here-document, to the end. */
export const takeExpanding = (cursor: TextCursor, variables: VariableList, isHereDocument: boolean): string => {
  let text = ''
  while (!cursor.isAtEnd()) {
    const char = cursor.peek()
    if (char === '"' && !isHereDocument) break
    if (char === '$') text += takeDollar(cursor, variables) ?? cursor.take(/\$/y)
    else if (char === '`') text += takeBackticks(cursor, variables)
    else if (char !== '\\') text += cursor.take(/[^"\\$`]+|"/y)
    else if (cursor.take(/\\\r?\n/y) === '') text += cursor.take(/\\["\\$`]/y).slice(1) || cursor.take(/\\/y)
  }
  return text
}

const takeDoubleQuoted = (cursor: TextCursor, variables: VariableList): string => {
  const start = cursor.offset()
  cursor.take(/\$?"/y)
  const text = takeExpanding(cursor, variables, false)
  if (cursor.isAtEnd()) throw notClosed('quote', start)
  cursor.take(/"/y)
  return text
}

const takeSingleQuoted = (cursor: TextCursor): string => {
  const start = cursor.offset()
  cursor.take(/'/y)
  const text = cursor.takeThrough("'")
  if (text === undefined) throw notClosed('quote', start)
  return text
}

const takeBackslash = (cursor: TextCursor, { note }: ShellState): ShellToken => {
  // A backslash at the end is left from a line that was not copied.
  if (cursor.take(/\\(?:\r?\n|$)/y) !== '') return SKIP
  if (cursor.take(/\\[ \t]+\r?\n/y) !== '') {
    note('A backslash with spaces after it was read as the continuation of a line.')
    return BLANK
  }
  return textToken(cursor.take(/\\./sy).slice(1))
}

/** A word with a query goes on after `&` if there is no space. The shell would end the command there. */
const takeAmpersand = (cursor: TextCursor, { hasQuery, note }: ShellState): ShellToken => {
  if (!hasQuery || !/[^\s&|;<>]/.test(cursor.peek(1))) return takeOperator(cursor)
  note('The URL is not in quotes. A shell would end the command at &; here the whole URL was read.')
  return textToken(cursor.take(/&/y))
}

/** Documentation writes `<id>` for a value to be filled in. In a shell these are redirections. */
const takeRedirection = (cursor: TextCursor, { word }: ShellState): ShellToken => {
  const placeholder = word === undefined || /^\d$/.test(word) ? '' : cursor.take(/<[A-Za-z][\w-]{0,60}>/y)
  if (placeholder !== '') return textToken(placeholder)
  return { kind: 'redirection', operator: cursor.take(/<<<|<<-?|<[>&]?|>[>&|]?/y) }
}

/** Reads one token of a POSIX shell, with `$'…'` and here-strings as in bash, ksh and zsh. */
export const readPosixToken: ReadToken = (cursor, state) => {
  const plain = cursor.take(state.word === undefined ? /[^\s\u00a0\\'"$`#;&|<>]+/y : /[^\s\u00a0\\'"$`;&|<>]+/y)
  if (plain !== '') return textToken(plain)
  const char = cursor.peek()
  const next = cursor.peek(1)
  if (char === '\n' || (char === '\r' && next === '\n')) return takeLineBreak(cursor, state)
  if (cursor.take(BLANKS) !== '') return BLANK
  if (char === '\\') return takeBackslash(cursor, state)
  if (char === "'") return quotedToken(takeSingleQuoted(cursor))
  if (char === '$' && next === "'") return quotedToken(takeAnsiQuoted(cursor))
  if (char === '"' || (char === '$' && next === '"')) return quotedToken(takeDoubleQuoted(cursor, state.variables))
  if (char === '$') return textToken(takeDollar(cursor, state.variables) ?? cursor.take(/\$/y))
  if (char === '`') return textToken(takeBackticks(cursor, state.variables))
  if (char === '#') {
    cursor.take(/[^\n]+/y)
    return SKIP
  }
  if (char === '&' && next === '>') return { kind: 'redirection', operator: cursor.take(/&>>?/y) }
  if (char === '&') return takeAmpersand(cursor, state)
  if (char === '<' || char === '>') return takeRedirection(cursor, state)
  if (char === '|' || char === ';') return takeOperator(cursor)
  // White space of other languages, which is part of a word.
  return textToken(cursor.take(/./sy))
}
