import { MAX_PARAMETER_NAME_CHARS } from './limits.ts'
import { PARAMETER_TYPES, type ParameterType, SERIALIZATIONS, type Serialization } from './template.ts'

/** Represents one placeholder in a text with holes. Templates cannot contain this character. */
export const HOLE = '\0'

/** A problem at an offset in the original text. */
export type Fault = { offset: number; message: string }

export type ScannedPlace = {
  name: string
  type: ParameterType
  optional: boolean
  defaultText: string | undefined
  serialization: Serialization | undefined
  /** Offset of the placeholder's `{{` in the original text. */
  offset: number
  /** Whether a problem with this placeholder has already been reported. Its position still counts. */
  isBroken: boolean
}

export type Scan = {
  /** The text with one HOLE for each placeholder and literal braces unescaped. */
  holed: string
  /** The placeholders, one for each HOLE, in order. */
  places: readonly ScannedPlace[]
  faults: readonly Fault[]
  /** Whether the text is too long or has an unclosed placeholder. If so, the rest of the text cannot be interpreted. */
  isCut: boolean
  /** Maps an index in `holed` to an offset in the original text. */
  offsetOf: (index: number) => number
  /** Returns the line and column of an offset, both counted from 1. Columns count UTF-16 units, as editors do. */
  locate: (offset: number) => { line: number; column: number }
}

const NAME = /^[A-Za-z_][A-Za-z0-9_.-]*$/

/** Joins words, as in `a, b or c`. */
export const orList = (words: readonly string[]): string =>
  words.length < 2 ? words.join() : `${words.slice(0, -1).join(', ')} or ${words.at(-1)}`

const quote = (text: string): string => JSON.stringify(text.length > 40 ? `${text.slice(0, 40)}…` : text)

const nameProblem = (name: string): string | undefined => {
  if (name === '') return 'a placeholder needs a name: write {{name}} or {{type:name}}'
  if (name.length > MAX_PARAMETER_NAME_CHARS) {
    return `the name ${quote(name)} has ${name.length} characters; at most ${MAX_PARAMETER_NAME_CHARS} are allowed`
  }
  if (!NAME.test(name)) {
    return `${quote(name)} is not a valid name. Start with a letter or _, and use only letters, digits, _ . and -`
  }
  // Callers cannot send JSON with this key, so a parameter with this name could never be set.
  return name === '__proto__' ? 'the name "__proto__" is reserved. Choose another name' : undefined
}

/** Splits a text at the first occurrence of a character. The second part is undefined if the text does not contain it. */
const splitAt = (text: string, char: string): [string, string | undefined] => {
  const at = text.indexOf(char)
  return at === -1 ? [text.trim(), undefined] : [text.slice(0, at).trim(), text.slice(at + 1).trim()]
}

const serializationProblem = (
  text: string | undefined,
  serialization: Serialization | undefined,
  type: ParameterType | undefined,
): string | undefined => {
  if (text === undefined) return undefined
  if (serialization === undefined) return `${quote(text)} is not a serialization. Use ${orList(SERIALIZATIONS)}`
  const needed = serialization === 'segments' ? 'string' : 'json'
  return type === undefined || type === needed
    ? undefined
    : `"${serialization}" needs a parameter of type ${needed}. Write {{${needed}:name | ${serialization}}}`
}

/** Parses the text between the braces: `[type:]name[?][| serialization][=default]`. */
const parsePlace = (inner: string, offset: number): { place: ScannedPlace; problems: readonly string[] } => {
  const [beforeDefault, defaultText] = splitAt(inner, '=')
  const [head, serializationText] = splitAt(beforeDefault, '|')
  const serialization = SERIALIZATIONS.find(known => known === serializationText)
  const optional = head.endsWith('?')
  const typed = optional ? head.slice(0, -1) : head
  const colon = typed.indexOf(':')
  const typeText = colon === -1 ? 'string' : typed.slice(0, colon).trim()
  const name = typed.slice(colon + 1).trim()
  const type = PARAMETER_TYPES.find(known => known === typeText)
  const problems = [
    type === undefined ? `${quote(typeText)} is not a type. Use ${orList(PARAMETER_TYPES)}` : undefined,
    nameProblem(name),
    serializationProblem(serializationText, serialization, type),
    optional && defaultText !== undefined
      ? 'a placeholder with a default is already optional. Remove the "?"'
      : undefined,
  ].filter(problem => problem !== undefined)
  const isBroken = problems.length > 0
  return { place: { name, type: type ?? 'string', optional, defaultText, serialization, offset, isBroken }, problems }
}

const backslashesBefore = (text: string, end: number, start: number): number => {
  let at = end
  while (at > start && text[at - 1] === '\\') at--
  return end - at
}

/**
 * Indexes the lines in linear time, and finds a line in logarithmic time, because a text may have
 * thousands of placeholders.
 */
const createLocator = (text: string): Scan['locate'] => {
  const starts = [0]
  for (let end = text.indexOf('\n'); end !== -1; end = text.indexOf('\n', end + 1)) starts.push(end + 1)
  return offset => {
    let line = 0
    let after = starts.length
    while (after - line > 1) {
      const middle = (line + after) >> 1
      if ((starts[middle] ?? 0) <= offset) line = middle
      else after = middle
    }
    return { line: line + 1, column: offset - (starts[line] ?? 0) + 1 }
  }
}

export type ScanOptions = { pairs: 'halve' | 'keep'; maxChars: number }

const tooLong = (maxChars: number): Scan => ({
  holed: '',
  places: [],
  faults: [{ offset: 0, message: `this is longer than ${maxChars} characters` }],
  isCut: true,
  offsetOf: index => index,
  locate: createLocator(''),
})

/**
 * Finds the placeholders in a text. `\{{` is a literal pair of braces. With `halve`, backslashes before `{{` are
 * halved, so `\\{{x}}` is a backslash and a placeholder. With `keep`, backslashes are unchanged, for texts that have
 * their own escapes, such as JSON.
 */
export const scanTemplate = (text: string, { pairs, maxChars }: ScanOptions): Scan => {
  if (text.length > maxChars) return tooLong(maxChars)
  const places: ScannedPlace[] = []
  const faults: Fault[] = []
  const runs: { index: number; offset: number }[] = []
  let holed = ''
  let isCut = false
  const append = (piece: string, offset: number): void => {
    runs.push({ index: holed.length, offset })
    holed += piece
  }
  /** Appends a placeholder. Returns the offset where scanning continues. */
  const appendPlace = (open: number): number => {
    const close = text.indexOf('}}', open + 2)
    const nested = text.indexOf('{{', open + 2)
    if (close === -1 || (nested !== -1 && nested < close)) {
      isCut = true
      faults.push({
        offset: open,
        message: '"{{" without "}}": add the closing "}}", or write \\{{ for literal braces',
      })
      return text.length
    }
    const { place, problems } = parsePlace(text.slice(open + 2, close), open)
    places.push(place)
    faults.push(...problems.map(message => ({ offset: open, message })))
    append(HOLE, open)
    return close + 2
  }

  let at = 0
  for (let open = text.indexOf('{{'); open !== -1; open = text.indexOf('{{', at)) {
    const backslashes = backslashesBefore(text, open, at)
    const isLiteral = backslashes % 2 === 1
    const kept = pairs === 'keep' ? backslashes - (isLiteral ? 1 : 0) : Math.floor(backslashes / 2)
    append(text.slice(at, open - backslashes) + '\\'.repeat(kept), at)
    if (isLiteral) append('{{', open)
    at = isLiteral ? open + 2 : appendPlace(open)
  }
  append(text.slice(at), at)

  const nul = text.indexOf(HOLE)
  if (nul !== -1) faults.push({ offset: nul, message: 'a NUL character is not allowed' })
  return {
    holed,
    places,
    faults,
    isCut: isCut || nul !== -1,
    locate: createLocator(text),
    offsetOf: index => {
      const run = runs.findLast(candidate => candidate.index <= index)
      return run === undefined ? index : run.offset + index - run.index
    },
  }
}

/** Counts the placeholders in text with holes. */
export const countHoles = (holed: string): number => holed.split(HOLE).length - 1
