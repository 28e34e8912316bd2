import type { TextCursor } from './text-cursor.ts'
import type { VariableList } from './variable-marks.ts'

/** What a shell reads next. Only `text` belongs to a word, also if it is empty, as in `''`. */
export type ShellToken =
  | { kind: 'text'; text: string; isQuoted?: boolean }
  | { kind: 'blank' }
  /** A line continuation or a comment. */
  | { kind: 'skip' }
  /** The end of a command. */
  | { kind: 'end' }
  /** The next word is a file, or the delimiter of a here-document. */
  | { kind: 'redirection'; operator: string }

export type ShellState = {
  /** The word so far. Undefined between words. */
  word: string | undefined
  /** Whether the word so far contains a `?`. */
  hasQuery: boolean
  variables: VariableList
  /** Adds a sentence for the user, once. */
  note: (sentence: string) => void
}

/** Reads one token and moves the cursor. Throws `UnreadableText` if a quote is not closed. */
export type ReadToken = (cursor: TextCursor, state: ShellState) => ShellToken

export const textToken = (text: string): ShellToken => ({ kind: 'text', text })
export const quotedToken = (text: string): ShellToken => ({ kind: 'text', text, isQuoted: true })
export const SKIP: ShellToken = { kind: 'skip' }
export const BLANK: ShellToken = { kind: 'blank' }
const END: ShellToken = { kind: 'end' }

const LINE_BREAK = /\r?\n/y
/** White space between words. Web pages also have no-break spaces there. */
export const BLANKS = /[ \t\r\f\v\u00a0]+/y

/**
 * Reads a line break, which ends a command, unless the next line starts with an option. No command starts like that:
 * the text has lost the characters that continue a line.
 */
export const takeLineBreak = (cursor: TextCursor, { note }: ShellState): ShellToken => {
  if (cursor.take(/\r?\n[ \t\u00a0]*(?=--?[A-Za-z])/y) === '') {
    cursor.take(LINE_BREAK)
    return END
  }
  note('A line that starts with an option was read as part of the command on the line before.')
  return BLANK
}

/** Reads `|`, `;` or `&`, alone or doubled, which end a command. */
export const takeOperator = (cursor: TextCursor): ShellToken => {
  cursor.take(/\|[|&]?|&&?|;+/y)
  return END
}
