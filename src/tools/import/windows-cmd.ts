import { BLANK, BLANKS, quotedToken, type ReadToken, type ShellState, textToken } from './shell-token.ts'
import { createCursor, type Meter, type TextCursor } from './text-cursor.ts'
import { notClosed } from './text-fault.ts'

export type WithoutCarets = {
  /** The command without carets. */
  text: string
  /** Maps an index in `text` to an offset in the source. */
  offsetOf: (index: number) => number
  /** Whether a backslash has a caret, as only Chrome writes it. */
  hasEscapedBackslash: boolean
  /** Where the command ends in the source. */
  end: number
  hasMore: boolean
}

const PROMPT = /\s*[A-Za-z]:\\[^>\n]{0,200}>[ \t]*/y

/** A variable, but no percent escapes such as `%C3%A9`: its name has a letter after F, or an underscore. */
const VARIABLE = /%(?=[A-Z0-9]{0,40}[G-Z_])[A-Z_][A-Z0-9_]{1,60}%/y

const takeCaret = (cursor: TextCursor): string => {
  if (cursor.take(/\^[ \t]*\r?\n/y) === '') return cursor.take(/\^.?/sy).slice(1)
  // The character after a continued line is escaped, also if it is a line break.
  return cursor.take(/\r?\n/y) === '' ? '' : '\n'
}

const takeVariable = (cursor: TextCursor, { variables }: ShellState): string => {
  const offset = cursor.offset()
  const written = cursor.take(VARIABLE)
  if (written === '') return cursor.take(/%/y)
  return variables.add({ name: written.slice(1, -1), written, from: 'shell' }, offset)
}

/** Reads the end of a command, outside of quotes. An option on the next line continues it: then there is only a blank. */
const takeEnd = (cursor: TextCursor, { note }: ShellState): string | undefined => {
  if (cursor.take(/\n[ \t]*(?=--?[A-Za-z])/y) === '') return undefined
  note('A line that starts with an option was read as part of the command on the line before.')
  return ' '
}

/** A text that is put together from pieces of a source, and remembers where each piece is from. */
const createMappedText = () => {
  const runs: { index: number; offset: number }[] = []
  let text = ''
  /** Returns the last run that starts at an index or before it, in logarithmic time. */
  const runAt = (index: number) => {
    let low = 0
    let high = runs.length
    while (low < high) {
      const middle = (low + high) >> 1
      if ((runs[middle]?.index ?? 0) <= index) low = middle + 1
      else high = middle
    }
    return runs[low - 1]
  }
  return {
    append: (offset: number, piece: string): void => {
      runs.push({ index: text.length, offset })
      text += piece
    },
    text: () => text,
    offsetOf: (index: number): number => {
      const run = runAt(index)
      return run === undefined ? index : run.offset + index - run.index
    },
  }
}

/**
 * Removes the carets of cmd.exe and finds the end of the first command. Quotes are left for the program, which reads
 * them itself. In cmd.exe, a caret between quotes is only a character, but Chrome writes carets there too: a caret
 * before a letter, digit or blank is literal, and others are removed.
 */
export const removeCarets = (source: string, state: ShellState, meter: Meter): WithoutCarets => {
  const cursor = createCursor(source, meter)
  const { append, text, offsetOf } = createMappedText()
  let isQuoted = false
  let hasText = false
  let hasEscapedBackslash = false
  cursor.take(PROMPT)
  while (!cursor.isAtEnd()) {
    const offset = cursor.offset()
    const char = cursor.peek()
    if (char === '%') append(offset, takeVariable(cursor, state))
    else if (char === '"') {
      isQuoted = !isQuoted
      append(offset, cursor.take(/"/y))
    } else if (char === '^' && !(isQuoted && /[\w \t]/.test(cursor.peek(1)))) {
      hasEscapedBackslash ||= cursor.peek(1) === '\\'
      append(offset, takeCaret(cursor))
    } else if (isQuoted) append(offset, cursor.take(/[^"%][^"%^]*/y))
    else if (hasText && /[&|<>\n]/.test(char)) {
      const blank = takeEnd(cursor, state)
      if (blank === undefined) break
      append(offset, blank)
    } else {
      const plain = cursor.take(/[^"%^&|<>\n]+|./sy)
      hasText ||= plain.trim() !== ''
      append(offset, plain)
    }
  }
  const end = cursor.offset()
  const hasMore = cursor.take(/\s*[^\s]/y) !== ''
  return { text: text(), offsetOf, hasEscapedBackslash, end, hasMore }
}

/**
 * Reads a run of backslashes. Before a quote, two of them are one, and an odd one escapes the quote; elsewhere they are
 * only characters. Chrome doubles all of them.
 */
const takeBackslashes = (cursor: TextCursor, areDoubled: boolean): string => {
  const run = cursor.take(/\\+/y)
  const halved = '\\'.repeat(run.length >> 1)
  if (cursor.peek() !== '"') return areDoubled ? halved : run
  return run.length % 2 === 0 ? halved : halved + cursor.take(/"/y)
}

const takeQuoted = (cursor: TextCursor, areDoubled: boolean): string => {
  const start = cursor.offset()
  cursor.take(/"/y)
  let text = ''
  for (;;) {
    if (cursor.isAtEnd()) throw notClosed('quote', start)
    const char = cursor.peek()
    if (char === '\\') text += takeBackslashes(cursor, areDoubled)
    else if (char !== '"') text += cursor.take(/[^"\\]+/y)
    else if (cursor.take(/""/y) !== '') text += '"'
    else break
  }
  cursor.take(/"/y)
  return text
}

/**
 * Creates a reader of tokens that reads a command line as a Windows program does (Microsoft's "Parsing C command-line
 * arguments"). `areDoubled` tells whether all backslashes are doubled.
 */
export const createWindowsReader =
  (areDoubled: boolean): ReadToken =>
  cursor => {
    const plain = cursor.take(/[^\s\u00a0\\"]+/y)
    if (plain !== '') return textToken(plain)
    if (cursor.take(BLANKS) !== '' || cursor.take(/\n+/y) !== '') return BLANK
    if (cursor.peek() === '\\') return textToken(takeBackslashes(cursor, areDoubled))
    if (cursor.peek() === '"') return quotedToken(takeQuoted(cursor, areDoubled))
    // White space of other languages, which is part of a word.
    return textToken(cursor.take(/./sy))
  }
