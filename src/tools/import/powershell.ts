import {
  BLANK,
  BLANKS,
  quotedToken,
  type ReadToken,
  SKIP,
  takeLineBreak,
  takeOperator,
  textToken,
} from './shell-token.ts'
import { takeDollar } from './shell-variables.ts'
import type { TextCursor } from './text-cursor.ts'
import { notClosed } from './text-fault.ts'
import type { VariableList } from './variable-marks.ts'

/** Escapes after a backtick (about_Special_Characters). */
const ESCAPES: Readonly<Record<string, string>> = {
  '0': '',
  a: '\x07',
  b: '\b',
  e: '\x1b',
  f: '\f',
  n: '\n',
  r: '\r',
  t: '\t',
  v: '\v',
}

const takeEscape = (cursor: TextCursor): string => {
  const char = cursor.take(/`.?/sy).slice(1)
  return ESCAPES[char] ?? char
}

const takeQuoted = (cursor: TextCursor, quote: '"' | "'", variables: VariableList): string => {
  const start = cursor.offset()
  cursor.take(/["']/y)
  let text = ''
  for (;;) {
    if (cursor.isAtEnd()) throw notClosed('quote', start)
    const char = cursor.peek()
    if (char === quote) {
      if (cursor.take(/""|''/y) === '') break
      text += quote
    } else if (char === '$' && quote === '"') text += takeDollar(cursor, variables) ?? cursor.take(/\$/y)
    else if (char === '`' && quote === '"') text += takeEscape(cursor)
    else text += cursor.take(quote === '"' ? /[^"`$]+/y : /[^']+/y)
  }
  cursor.take(/["']/y)
  return text
}

/**
 * Reads one token of PowerShell. Before version 7.3, PowerShell passes quotes on only if a backslash precedes them, so
 * commands for curl.exe have such backslashes.
 */
export const readPowerShellToken: ReadToken = (cursor, state) => {
  const plain = cursor.take(/[^\s\u00a0'"`$;|<>&#]+/y)
  if (plain !== '') return textToken(plain)
  const char = cursor.peek()
  if (char === '\n' || (char === '\r' && cursor.peek(1) === '\n')) return takeLineBreak(cursor, state)
  if (cursor.take(BLANKS) !== '') return BLANK
  if (char === '"' || char === "'") {
    return quotedToken(takeQuoted(cursor, char, state.variables).replaceAll('\\"', '"'))
  }
  if (char === '`') return cursor.take(/`[ \t]*\r?\n/y) === '' ? textToken(takeEscape(cursor)) : BLANK
  if (char === '$') return textToken(takeDollar(cursor, state.variables) ?? cursor.take(/\$/y))
  if (char === '#' && state.word === undefined) {
    cursor.take(/[^\n]+/y)
    return SKIP
  }
  if (char === '&' && state.word !== undefined) return textToken(cursor.take(/&/y))
  if (char === '<' || char === '>') return { kind: 'redirection', operator: cursor.take(/<|>>?(?:&\d)?/y) }
  if (char === '|' || char === ';' || char === '&') return takeOperator(cursor)
  return textToken(cursor.take(/./sy))
}
