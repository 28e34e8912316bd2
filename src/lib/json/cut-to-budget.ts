import { formatBytes, formatCount, formatNumber } from '../kernel/format.ts'
import type { JsonValue } from '../kernel/json.ts'
import { countTokens } from '../tokens/tokens.ts'
import { closeJson } from './close-json.ts'
import { type Cut, cutJson } from './cut-json.ts'
import { cutText, shorten } from './cut-text.ts'
import { countLines } from './format-counts.ts'
import { isKeyed, keyPattern } from './keyed-object.ts'
import { follow, hasMembers, type Path, renderPath } from './path.ts'
import { renderDocument } from './render-document.ts'
import type { ResultDocument } from './result-document.ts'

const MAX_NAMES = 12
const MAX_NAME_CHARACTERS = 40
/** Maximum number of items inspected for member names. Further items usually have the same names. */
const MAX_ITEMS = 20

const cut = (text: string): string => shorten(text, MAX_NAME_CHARACTERS)

const firstValues = (root: JsonValue, path: Path): readonly JsonValue[] =>
  path.reduce<readonly JsonValue[]>(
    (values, step) => values.flatMap(value => follow(value, step).slice(0, MAX_ITEMS)).slice(0, MAX_ITEMS),
    [root],
  )

/** Returns the values whose members are named: those at the path, or the items or members of those. */
const holdersAt = (root: JsonValue, path: Path, what: Cut['what']): readonly JsonValue[] => {
  if (what === 'keyed members') return firstValues(root, [...path, { kind: 'any' }])
  const values = firstValues(root, path)
  return what === 'members' ? values : values.flatMap(value => (Array.isArray(value) ? value.slice(0, MAX_ITEMS) : []))
}

/** Returns the pattern of the names of a keyed object, or undefined for other values. */
const patternOf = (value: JsonValue | undefined): string | undefined => {
  if (!hasMembers(value)) return undefined
  const names = Object.keys(value)
  return isKeyed(value, names) ? keyPattern(names) : undefined
}

/** Lists the member names of the objects at a path, or of the items or members of the values there. */
const nameMembers = (root: JsonValue, path: Path, what: Cut['what']): string => {
  const holders = holdersAt(root, path, what)
  const pattern = what === 'members' ? undefined : patternOf(holders[0])
  if (pattern !== undefined) return `each has names like ${pattern}`
  const names = new Set<string>()
  for (const holder of holders) {
    if (!hasMembers(holder)) continue
    for (const name in holder) if (names.size <= MAX_NAMES) names.add(name)
  }
  if (names.size === 0) return ''
  const shown = [...names].slice(0, MAX_NAMES).map(cut).join(', ')
  const list = names.size > MAX_NAMES ? `${shown}, …` : shown
  return what === 'members' ? `all members: ${list}` : `each has ${list}`
}

/** Describes the names of a keyed object at a path by their pattern, or by the first ones if they have none. */
const nameKeys = (root: JsonValue, path: Path): string => {
  const [keyed] = firstValues(root, path)
  if (!hasMembers(keyed)) return ''
  const names = Object.keys(keyed)
  return `names are ${keyPattern(names) ?? `${names.slice(0, MAX_NAMES).map(cut).join(', ')}, …`}`
}

/** The beginning of a result, as sent to a model. */
export type CutDocument = {
  /** Valid JSON if the result is JSON. Otherwise, text that ends with a whole line if possible. */
  text: string
  /** The text as a parsed document. */
  shown: ResultDocument
  /** Lines that describe what was left out. Empty if nothing was. */
  outline: string
  /** Total tokens of the text and the outline, in TOKEN_ENCODING. */
  tokensShown: number
  isCut: boolean
}

/** Estimate used for the first try. */
const CHARACTERS_PER_TOKEN = 3.5
/**
 * If a text has more characters per token of the budget than this, it is cut without counting its tokens. Only long
 * runs of blanks have so many characters per token.
 */
const MAX_CHARACTERS_PER_TOKEN = 16
const MAX_TRIES = 6
/** Share of the budget that a result must fill to be accepted. */
const FILLED_SHARE = 0.85
/** Share of the budget that the next try aims for. */
const AIM = 0.94
/** Share of the room reserved for the outline. */
const OUTLINE_SHARE = 0.3
const MAX_OUTLINE_LINES = 12

type Candidate = Pick<CutDocument, 'text' | 'shown' | 'outline'>

/** Returns whether the line of the list or keyed object around a cut names its members already. */
const isNamedAbove = ({ path, what }: Cut, cuts: readonly Cut[]): boolean => {
  const last = path.at(-1)
  if (what === 'items' || last === undefined) return false
  const around = renderPath(path.slice(0, -1))
  const holder = last.kind === 'items' ? 'items' : last.kind === 'any' ? 'keyed members' : undefined
  return cuts.some(cut => cut.what === holder && renderPath(cut.path) === around)
}

const describeCut = (root: ResultDocument, part: Cut, cuts: readonly Cut[]): string => {
  const { path, what, shown, total, places } = part
  const where = path.length === 0 ? 'the whole result' : renderPath(path)
  const unit = what === 'keyed members' ? 'members' : what
  const many = places > 1 ? `${unit} in ${formatNumber(places)} places` : unit
  const line = `${where}: ${formatNumber(shown)} of ${formatNumber(total)} ${many} shown`
  if (what === 'characters' || root.kind !== 'json') return line
  const isNamed = isNamedAbove(part, cuts)
  const keys = what === 'keyed members' && !isNamed ? nameKeys(root.value, path) : ''
  const members = what === 'members' && isNamed ? '' : nameMembers(root.value, path, what)
  return [line, keys, members].filter(part => part !== '').join('; ')
}

const renderOutline = (lines: readonly string[], room: number): string => {
  const kept: string[] = []
  let left = room
  for (const whole of lines) {
    // Omits the names if they do not fit.
    const line = whole.length > left ? whole.slice(0, whole.indexOf(';') + 1 || undefined).replace(/;$/, '') : whole
    if (kept.length === MAX_OUTLINE_LINES || line.length > left) break
    kept.push(line)
    left -= line.length + 1
  }
  const more = lines.length - kept.length
  if (kept.length === 0) return ''
  return ['This is only a part:', ...kept, ...(more > 0 ? [`and ${formatNumber(more)} more places`] : [])].join('\n')
}

const describeTextCut = (whole: string, shown: string, lines: number): string => {
  const characters = `${formatNumber(shown.length)} of ${formatNumber(whole.length)} characters shown`
  return lines > 1 ? `${formatNumber(countLines(shown))} of ${formatNumber(lines)} lines, ${characters}` : characters
}

/** Describes the last list of the beginning of a result, which is where it was cut. */
const describeUnparsed = (value: JsonValue, size: string): string => {
  const last = hasMembers(value) ? Object.keys(value).at(-1) : undefined
  const path: Path = last === undefined ? [] : [{ kind: 'member', name: last }]
  const [list] = firstValues(value, path)
  if (!Array.isArray(list)) return `the whole result: its first members shown, of ${size}`
  const where = last === undefined ? 'the whole result' : renderPath(path)
  const line = `${where}: ${formatCount(list.length, 'item')} shown, of a result of ${size}`
  const names = nameMembers(value, path, 'items')
  return names === '' ? line : `${line}; ${names}`
}

/** Share of the room for the JSON of an unparsed result. The rest is for its outline. */
const UNPARSED_SHARE = 0.85

/**
 * Cuts JSON that was not parsed, for example because it is too large, to valid JSON of at most `room` characters, with an
 * outline. Returns undefined if the text does not begin like JSON or is short enough. `bytes` is the size of the whole
 * result, of which `text` may be only the beginning.
 */
export const cutUnparsed = (
  text: string,
  room: number,
  bytes?: number,
): Pick<CutDocument, 'text' | 'outline'> | undefined => {
  if (text.length <= room && bytes === undefined) return undefined
  const closed = closeJson(text.slice(0, Math.floor(room * UNPARSED_SHARE)))
  if (closed === undefined) return undefined
  const size = bytes === undefined ? `${formatNumber(text.length)} characters` : formatBytes(bytes)
  const outline = renderOutline([describeUnparsed(closed.value, size)], room - closed.text.length)
  return { text: closed.text, outline }
}

/** Returns a function that cuts the document to a number of characters. */
const createCutter = (document: ResultDocument, maxKeyed: number | undefined): ((room: number) => Candidate) => {
  if (document.kind === 'json') {
    return room => {
      const { value, cuts } = cutJson(document.value, Math.floor(room * (1 - OUTLINE_SHARE)), maxKeyed)
      const shown = { ...document, value }
      const text = renderDocument(shown)
      const lines = cuts.map(part => describeCut(document, part, cuts))
      return { text, shown, outline: renderOutline(lines, Math.max(room - text.length, room * OUTLINE_SHARE)) }
    }
  }
  const whole = renderDocument(document)
  const lines = countLines(whole)
  const format = document.kind === 'text' ? document.format : 'text'
  return room => {
    const closed = cutUnparsed(whole, Math.floor(room))
    if (closed !== undefined) return { ...closed, shown: { kind: 'text', text: closed.text, format } }
    const text = cutText(whole, Math.floor(room), format)
    const shown = { kind: 'text' as const, text, format }
    if (text.length === whole.length) return { text, shown, outline: '' }
    return { text, shown, outline: renderOutline([describeTextCut(whole, text, lines)], room) }
  }
}

const countBoth = ({ text, outline }: Candidate): Promise<number> =>
  countTokens(outline === '' ? text : `${text}\n${outline}`)

/** Returns the shortest candidate, which fits any budget. */
const emptyCandidate = (document: ResultDocument): Candidate => {
  const isList = document.kind === 'json' && Array.isArray(document.value)
  const shown = { kind: 'json' as const, value: isList ? [] : {}, format: 'json' as const }
  const isJson = document.kind === 'json' && document.format === 'json'
  return { text: isJson ? renderDocument(shown) : '', shown, outline: '' }
}

const findWhole = async (document: ResultDocument, budgetTokens: number): Promise<CutDocument | undefined> => {
  if (document.kind === 'json' && cutJson(document.value, budgetTokens * MAX_CHARACTERS_PER_TOKEN).cuts.length > 0) {
    return undefined
  }
  const text = renderDocument(document)
  if (text.length > budgetTokens * MAX_CHARACTERS_PER_TOKEN) return undefined
  const tokensShown = await countTokens(text)
  return tokensShown > budgetTokens ? undefined : { text, shown: document, outline: '', tokensShown, isCut: false }
}

/**
 * Cuts a result to a budget of at least one token. Returns the whole result if it fits. Otherwise, returns the first
 * items of lists and all small members of objects, or whole lines or sentences of text, with an outline of the rest.
 * Counts only the tokens of what is sent, so it takes milliseconds for results of any length. `maxKeyed` is the most
 * objects or lists shown of an object whose names are data.
 */
export const cutToBudget = async (
  document: ResultDocument,
  budgetTokens: number,
  maxKeyed?: number,
): Promise<CutDocument> => {
  const whole = await findWhole(document, budgetTokens)
  if (whole !== undefined) return whole
  const cutTo = createCutter(document, maxKeyed)
  let best: CutDocument | undefined
  let room = budgetTokens * CHARACTERS_PER_TOKEN
  for (let tries = 0; tries < MAX_TRIES; tries++) {
    const candidate = cutTo(room)
    // More room adds nothing, because the members of a keyed object are alike.
    if (candidate.text === best?.text) break
    const tokensShown = await countBoth(candidate)
    if (tokensShown <= budgetTokens && tokensShown > (best?.tokensShown ?? 0)) {
      best = { ...candidate, tokensShown, isCut: true }
    }
    const isFilled = tokensShown <= budgetTokens && tokensShown >= budgetTokens * FILLED_SHARE
    if (isFilled) break
    room *= Math.min(2, Math.max(0.1, (budgetTokens * AIM) / Math.max(1, tokensShown)))
  }
  if (best !== undefined) return best
  const least = emptyCandidate(document)
  return { ...least, tokensShown: await countBoth(least), isCut: true }
}
