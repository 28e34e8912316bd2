import { MAX_PARAMETER_NAME_CHARS } from './limits.ts'
import { PARAMETER_TYPES, type ParameterType } from './template.ts'

/** Stands for one place in a masked text; no template may hold the character itself. */
export const HOLE = '\0'

/** Something wrong at an offset of the text as written. */
export type Complaint = { offset: number; message: string }

export type ScannedPlace = {
  name: string
  type: ParameterType
  optional: boolean
  defaultText: string | undefined
  /** Of its `{{` in the text as written. */
  offset: number
  /** Already complained of; where it stands still matters, what it says does not. */
  isBroken: boolean
}

export type Scan = {
  /** The text with one HOLE for each place, and literal braces unescaped. */
  masked: string
  /** One for each HOLE, in their order. */
  places: readonly ScannedPlace[]
  complaints: readonly Complaint[]
  /** The text is too long, or a place never ends: what the rest of it says means nothing. */
  isCut: boolean
  /** From an index into `masked` to the offset in the text as written. */
  offsetOf: (index: number) => number
  /** Line and column of an offset, both from 1, the column in UTF-16 units as editors count. */
  locate: (offset: number) => { line: number; column: number }
}

const NAME = /^[A-Za-z_][A-Za-z0-9_.-]*$/
const TYPE_LIST = `${PARAMETER_TYPES.slice(0, -1).join(', ')} or ${PARAMETER_TYPES.at(-1)}`

const quote = (text: string): string => JSON.stringify(text.length > 40 ? `${text.slice(0, 40)}…` : text)

const nameProblem = (name: string): string | undefined => {
  if (name === '') return 'a place needs a name: write {{name}} or {{type:name}}'
  if (name.length > MAX_PARAMETER_NAME_CHARS) {
    return `the name ${quote(name)} has ${name.length} characters; at most ${MAX_PARAMETER_NAME_CHARS} are allowed`
  }
  if (!NAME.test(name)) {
    return `${quote(name)} cannot be a name: begin with a letter or _, go on with letters, digits, _ . or -`
  }
  // No JSON of a caller may hold this key, so such a parameter could never be given.
  return name === '__proto__' ? 'the name "__proto__" is reserved: choose another' : undefined
}

/** What stands between the braces: `[type:]name[?][=default]`. */
const parsePlace = (inner: string, offset: number): { place: ScannedPlace; problems: readonly string[] } => {
  const equals = inner.indexOf('=')
  const head = (equals === -1 ? inner : inner.slice(0, equals)).trim()
  const defaultText = equals === -1 ? undefined : inner.slice(equals + 1).trim()
  const optional = head.endsWith('?')
  const typed = optional ? head.slice(0, -1) : head
  const colon = typed.indexOf(':')
  const typeText = colon === -1 ? 'string' : typed.slice(0, colon).trim()
  const name = typed.slice(colon + 1).trim()
  const type = PARAMETER_TYPES.find(known => known === typeText)
  const problems = [
    type === undefined ? `${quote(typeText)} is not a type: use ${TYPE_LIST}` : undefined,
    nameProblem(name),
    optional && defaultText !== undefined ? 'a place with a default is optional already: leave out the "?"' : undefined,
  ].filter(problem => problem !== undefined)
  const place = { name, type: type ?? 'string', optional, defaultText, offset, isBroken: problems.length > 0 }
  return { place, problems }
}

const backslashesBefore = (text: string, end: number, start: number): number => {
  let at = end
  while (at > start && text[at - 1] === '\\') at--
  return end - at
}

/** Linear once and logarithmic after, since a text may hold thousands of places. */
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
  masked: '',
  places: [],
  complaints: [{ offset: 0, message: `this is longer than ${maxChars} characters` }],
  isCut: true,
  offsetOf: index => index,
  locate: createLocator(''),
})

/**
 * Finds the places of a text. `\{{` is a literal brace pair; of several backslashes before `{{` each pair is one
 * backslash (`\\{{x}}` is a backslash and a place), unless the text has escapes of its own, as JSON does: there the
 * pairs are kept as they are.
 */
export const scanTemplate = (text: string, { pairs, maxChars }: ScanOptions): Scan => {
  if (text.length > maxChars) return tooLong(maxChars)
  const places: ScannedPlace[] = []
  const complaints: Complaint[] = []
  const runs: { index: number; offset: number }[] = []
  let masked = ''
  let isCut = false
  const append = (piece: string, offset: number): void => {
    runs.push({ index: masked.length, offset })
    masked += piece
  }
  /** Answers where the text goes on. */
  const appendPlace = (open: number): number => {
    const close = text.indexOf('}}', open + 2)
    const nested = text.indexOf('{{', open + 2)
    if (close === -1 || (nested !== -1 && nested < close)) {
      isCut = true
      complaints.push({ offset: open, message: '"{{" without "}}": close the place, or write \\{{ for literal braces' })
      return text.length
    }
    const { place, problems } = parsePlace(text.slice(open + 2, close), open)
    places.push(place)
    complaints.push(...problems.map(message => ({ offset: open, message })))
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
  if (nul !== -1) complaints.push({ offset: nul, message: 'a NUL character is not allowed' })
  return {
    masked,
    places,
    complaints,
    isCut: isCut || nul !== -1,
    locate: createLocator(text),
    offsetOf: index => {
      const run = runs.findLast(candidate => candidate.index <= index)
      return run === undefined ? index : run.offset + index - run.index
    },
  }
}

/** How many places stand in a piece of masked text. */
export const countHoles = (masked: string): number => masked.split(HOLE).length - 1
