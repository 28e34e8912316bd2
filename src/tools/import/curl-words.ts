import { readPosixToken, takeExpanding } from './posix-shell.ts'
import { readPowerShellToken } from './powershell.ts'
import type { ReadToken, ShellState, ShellToken } from './shell-token.ts'
import { createCursor, type Meter, type TextCursor } from './text-cursor.ts'
import { UnreadableText } from './text-fault.ts'
import { createVariableList, type VariableList } from './variable-marks.ts'
import { createWindowsReader, removeCarets } from './windows-cmd.ts'

/** Maximum length of a command, in characters: as much as the body of a tool may have. */
export const MAX_COMMAND_CHARS = 256 * 1_024

/** Maximum number of words in a command. Those that browsers copy have about a hundred. */
const MAX_WORDS = 10_000

/** A word of a command line, with the offset in the source where it starts. Variables in it are marks. */
export type Word = { text: string; offset: number }

export type CurlWords = {
  /** The words after `curl`. */
  words: readonly Word[]
  /** Where `curl` is. */
  offset: number
  /** Where the command ends. */
  end: number
  /** The text of a here-document or here-string. */
  stdin: string | undefined
  variables: VariableList
  notes: readonly string[]
}

export type Shell = 'posix' | 'cmd' | 'powershell'

const lineOfCurl = (source: string): string => {
  const start = Math.max(0, source.indexOf('curl'))
  const end = source.indexOf('\n', start)
  return source.slice(start, end === -1 ? undefined : end).trimEnd()
}

const QUOTED = /'[^']*'|"[^"\\]*(?:\\.[^"\\]*)*"|\\./g

/** Returns whether a line ends in a character that continues it: outside of quotes and after a blank. */
const isContinuedBy = (line: string, character: string): boolean => {
  if (!line.endsWith(` ${character}`)) return false
  return !/['"]/.test(line.replaceAll(QUOTED, ''))
}

/**
 * Guesses the shell from the first line of the command: how it continues, or whether a caret precedes its first quote.
 * Browsers for Windows also write `^\^"` or `""` for a quote in JSON, which nobody writes for another shell.
 */
export const guessShell = (source: string): Shell => {
  if (source.includes('^\\^"') || source.includes('"{""')) return 'cmd'
  const line = lineOfCurl(source)
  if (isContinuedBy(line, '^')) return 'cmd'
  if (isContinuedBy(line, '`')) return 'powershell'
  const quote = line.search(/["']/)
  return quote > 0 && line[quote] === '"' && line[quote - 1] === '^' ? 'cmd' : 'posix'
}

const ASSIGNMENT = /^[A-Za-z_]\w*\+?=/
/** Commands that run the command after them. */
const WRAPPERS: ReadonlySet<string> = new Set(['sudo', 'time', 'env', 'command', 'exec', 'nohup', 'then', 'do', '!'])
const CURL = /^(?:.*[\\/])?curl(?:\.exe)?$/is

/** Returns the index of the word `curl`. Undefined if the command runs something else. */
const findCurl = (words: readonly Word[]): number | undefined => {
  const index = words.findIndex(({ text }) => !ASSIGNMENT.test(text) && !WRAPPERS.has(text))
  return CURL.test(words[index]?.text.slice(-1_000) ?? '') ? index : undefined
}

/** Prompts of shells, which are copied together with commands. */
const PROMPT = /[ \t]*(?:[$>%][ \t]+|PS [^>\n]{0,200}>[ \t]*|[A-Za-z]:\\[^>\n]{0,200}>[ \t]*)/y

/** The start of a block of code in Markdown. */
const FENCE = /\s*```[\w-]*[ \t]*\r?\n/y

/** What the commands of a text share. */
type SharedState = Omit<ShellState, 'word' | 'hasQuery'>

/** `isIndented`: tabs before each line do not count. */
type HereDocument = { delimiter: string; isQuoted: boolean; isIndented: boolean }

/** Collects the words of a command. The word after a redirection is not one of them. */
const createCommand = (state: ShellState) => {
  const words: Word[] = []
  let redirection: string | undefined
  let hereDocument: HereDocument | undefined
  let stdin: string | undefined
  let offset = 0
  let isQuoted = false

  const endWord = (): void => {
    if (state.word === undefined) return
    if (words.length === MAX_WORDS)
      throw new UnreadableText(`this has more than ${MAX_WORDS} words. Paste one command only`, offset)
    if (redirection === undefined) words.push({ text: state.word, offset })
    else if (redirection === '<<<') stdin = `${state.word}\n`
    else if (redirection.startsWith('<<'))
      hereDocument = { delimiter: state.word, isQuoted, isIndented: redirection === '<<-' }
    state.word = undefined
    state.hasQuery = false
    redirection = undefined
    isQuoted = false
  }
  return {
    addText: (piece: Extract<ShellToken, { kind: 'text' }>, start: number): void => {
      if (state.word === undefined) offset = start
      state.word = (state.word ?? '') + piece.text
      state.hasQuery ||= piece.text.includes('?')
      isQuoted ||= piece.isQuoted === true
    },
    redirect: (operator: string): void => {
      // The number before a redirection is a file descriptor.
      if (state.word !== undefined && /^\d$/.test(state.word)) state.word = undefined
      endWord()
      redirection = operator
      if (!operator.startsWith('<<')) state.note('Redirections were left out.')
    },
    endWord,
    finish: () => {
      endWord()
      return { words, stdin, hereDocument }
    },
  }
}

/** Reads one command, up to its end. */
const readCommand = (cursor: TextCursor, readToken: ReadToken, shell: SharedState) => {
  const state: ShellState = { ...shell, word: undefined, hasQuery: false }
  const command = createCommand(state)
  const prompt = cursor.take(PROMPT)
  while (!cursor.isAtEnd()) {
    const start = cursor.offset()
    const token = readToken(cursor, state)
    if (token.kind === 'text') command.addText(token, start)
    else if (token.kind === 'redirection') command.redirect(token.operator)
    else if (token.kind !== 'skip') command.endWord()
    // A prompt in front of the command was copied with the prompts of its other lines.
    else if (prompt !== '') cursor.take(/[ \t]*>[ \t]+/y)
    if (token.kind === 'end') break
  }
  return command.finish()
}

/** Reads the lines of a here-document, up to the line that is its delimiter. */
const takeHereDocument = (
  cursor: TextCursor,
  { delimiter, isQuoted, isIndented }: HereDocument,
  variables: VariableList,
  meter: Meter,
): string => {
  const lines: string[] = []
  if (cursor.peek(-1) !== '\n') cursor.takeThrough('\n')
  while (!cursor.isAtEnd()) {
    const line = cursor.take(/[^\n]*/y)
    cursor.take(/\n/y)
    if (line.trim() === delimiter) break
    lines.push(line.replace(isIndented ? /^\t+|\r$/g : /\r$/, ''))
  }
  const text = lines.map(line => `${line}\n`).join('')
  return isQuoted ? text : takeExpanding(createCursor(text, meter), variables, true)
}

const hasMoreText = (cursor: TextCursor): boolean => {
  while (cursor.take(/\s+|#[^\n]*/y) !== '');
  return !cursor.isAtEnd()
}

/** The error for a text without a command. */
export const NO_CURL = 'this is not a curl command. Paste one that starts with curl'

/** The note that there is more text. */
export const REST_LEFT_OUT = 'Only the first curl command was read. The text after it was left out.'

const readFirstCurl = (cursor: TextCursor, readToken: ReadToken, shell: SharedState, meter: Meter): CurlWords => {
  const { variables, note } = shell
  /** A here-document starts after the line that announces it, which may have several commands. */
  let pending: HereDocument | undefined
  cursor.take(FENCE)
  while (!cursor.isAtEnd()) {
    const command = readCommand(cursor, readToken, shell)
    const { words, stdin } = command
    const index = findCurl(words)
    pending = command.hereDocument ?? pending
    const document =
      pending !== undefined && (index !== undefined || cursor.peek(-1) === '\n')
        ? takeHereDocument(cursor, pending, variables, meter)
        : undefined
    if (document !== undefined) pending = undefined
    if (index === undefined) {
      if (words.length === 0) continue
      note('Other commands were left out.')
      variables.clear()
      continue
    }
    const end = cursor.offset()
    if (hasMoreText(cursor)) note(REST_LEFT_OUT)
    const offset = words[index]?.offset ?? 0
    return { words: words.slice(index + 1), offset, end, stdin: stdin ?? document, variables, notes: [] }
  }
  throw new UnreadableText(NO_CURL, 0)
}

/**
 * Splits a pasted text into the words of its first curl command, as the shell would that it is written for. Runs
 * nothing, and reads no variables and files: they become marks. Throws `UnreadableText`.
 */
export const splitCurl = (source: string, meter: Meter = () => {}): CurlWords => {
  if (source.length > MAX_COMMAND_CHARS) {
    throw new UnreadableText(
      `this is longer than ${MAX_COMMAND_CHARS} characters. Paste one command only`,
      MAX_COMMAND_CHARS,
    )
  }
  const nul = source.indexOf('\0')
  if (nul !== -1) throw new UnreadableText('NUL characters are not allowed. Remove them', nul)
  const notes = new Set<string>()
  const shell: SharedState = { variables: createVariableList(), note: sentence => notes.add(sentence) }
  const kind = guessShell(source)
  if (kind !== 'cmd') {
    const readToken = kind === 'posix' ? readPosixToken : readPowerShellToken
    const read = readFirstCurl(createCursor(source, meter), readToken, shell, meter)
    return { ...read, notes: [...notes] }
  }
  return splitWindows(source, shell, notes, meter)
}

const splitWindows = (source: string, shell: SharedState, notes: ReadonlySet<string>, meter: Meter): CurlWords => {
  const { text, offsetOf, end, hasMore, hasEscapedBackslash } = removeCarets(
    source,
    { ...shell, word: undefined, hasQuery: false },
    meter,
  )
  if (hasMore) shell.note(REST_LEFT_OUT)
  try {
    const read = readFirstCurl(createCursor(text, meter), createWindowsReader(hasEscapedBackslash), shell, meter)
    const words = read.words.map(word => ({ ...word, offset: offsetOf(word.offset) }))
    return { ...read, words, offset: offsetOf(read.offset), end, notes: [...notes] }
  } catch (error) {
    throw error instanceof UnreadableText ? new UnreadableText(error.message, offsetOf(error.offset)) : error
  }
}
