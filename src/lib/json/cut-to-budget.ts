import { countTokens } from '../tokens/tokens.ts'
import { type Cut, cutJson } from './cut-json.ts'
import { cutText } from './cut-text.ts'
import { countLines, formatNumber } from './format-counts.ts'
import { nameMembers } from './name-members.ts'
import { renderPath } from './path.ts'
import { renderDocument } from './render-document.ts'
import type { ResultDocument } from './result-document.ts'

/** The beginning of an answer that a model is shown. */
export type CutDocument = {
  /** Of JSON: valid JSON. Of lines, a table or a text: whole lines where there are any. */
  text: string
  /** The same as a document. */
  shown: ResultDocument
  /** Lines that say what is left out, and what it is like; empty when nothing is. */
  outline: string
  /** Of the text and the outline together, as TOKEN_ENCODING counts them. */
  tokensShown: number
  isCut: boolean
}

/** What a token is taken for before it is counted. */
const CHARACTERS_PER_TOKEN = 3.5
/** A text longer than this for each token of the budget is over it, but for endless blanks: it is cut unseen. */
const MAX_CHARACTERS_PER_TOKEN = 16
const MAX_TRIES = 6
/** A beginning that fills so much of the budget is good enough. */
const FILLED_SHARE = 0.85
/** How far below the budget the next try aims. */
const AIM = 0.94
/** The part of the room that the outline may take. */
const OUTLINE_SHARE = 0.3
const MAX_OUTLINE_LINES = 12

type Candidate = Pick<CutDocument, 'text' | 'shown' | 'outline'>

const describeCut = (root: ResultDocument, { path, what, shown, total, places }: Cut): string => {
  const where = path.length === 0 ? 'the whole' : renderPath(path)
  const unit = places > 1 ? `${what} in ${formatNumber(places)} places` : what
  const line = `${where}: ${formatNumber(shown)} of ${formatNumber(total)} ${unit} shown`
  if (what === 'characters' || root.kind !== 'json') return line
  const names = nameMembers(root.value, path, what)
  return names === '' ? line : `${line}; ${names}`
}

const renderOutline = (lines: readonly string[], room: number): string => {
  const kept: string[] = []
  let left = room
  for (const whole of lines) {
    // Without the names, where they do not fit.
    const line = whole.length > left ? whole.slice(0, whole.indexOf(';') + 1 || undefined).replace(/;$/, '') : whole
    if (kept.length === MAX_OUTLINE_LINES || line.length > left) break
    kept.push(line)
    left -= line.length + 1
  }
  const more = lines.length - kept.length
  if (kept.length === 0) return ''
  return ['This is a part:', ...kept, ...(more > 0 ? [`and ${formatNumber(more)} more places`] : [])].join('\n')
}

const describeTextCut = (whole: string, shown: string, lines: number): string => {
  const characters = `${formatNumber(shown.length)} of ${formatNumber(whole.length)} characters shown`
  return lines > 1 ? `${formatNumber(countLines(shown))} of ${formatNumber(lines)} lines, ${characters}` : characters
}

/** A way to make the beginning for a room of so many characters. */
const createCutter = (document: ResultDocument): ((room: number) => Candidate) => {
  if (document.kind === 'json') {
    return room => {
      const { value, cuts } = cutJson(document.value, Math.floor(room * (1 - OUTLINE_SHARE)))
      const shown = { ...document, value }
      const text = renderDocument(shown)
      const lines = cuts.map(cut => describeCut(document, cut))
      return { text, shown, outline: renderOutline(lines, Math.max(room - text.length, room * OUTLINE_SHARE)) }
    }
  }
  const whole = renderDocument(document)
  const lines = countLines(whole)
  const format = document.kind === 'text' ? document.format : 'text'
  return room => {
    const text = cutText(whole, Math.floor(room), format)
    const shown = { kind: 'text' as const, text, format }
    if (text.length === whole.length) return { text, shown, outline: '' }
    return { text, shown, outline: renderOutline([describeTextCut(whole, text, lines)], room) }
  }
}

const countBoth = ({ text, outline }: Candidate): Promise<number> =>
  countTokens(outline === '' ? text : `${text}\n${outline}`)

/** Nothing but what says that there is more: within any budget. */
const emptiest = (document: ResultDocument): Candidate => {
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
 * The useful beginning of an answer within a budget of tokens, 1 or more: whole when it fits; else the first items of
 * its lists and all small members of its objects, or whole lines or sentences of a text, and an outline of the rest.
 * Only what is to be shown is counted, a few times; takes milliseconds, however long the answer is.
 */
export const cutToBudget = async (document: ResultDocument, budgetTokens: number): Promise<CutDocument> => {
  const whole = await findWhole(document, budgetTokens)
  if (whole !== undefined) return whole
  const cutTo = createCutter(document)
  let best: CutDocument | undefined
  let room = budgetTokens * CHARACTERS_PER_TOKEN
  for (let tries = 0; tries < MAX_TRIES; tries++) {
    const candidate = cutTo(room)
    const tokensShown = await countBoth(candidate)
    if (tokensShown <= budgetTokens && tokensShown > (best?.tokensShown ?? 0)) {
      best = { ...candidate, tokensShown, isCut: true }
    }
    const isFilled = tokensShown <= budgetTokens && tokensShown >= budgetTokens * FILLED_SHARE
    if (isFilled) break
    room *= Math.min(2, Math.max(0.1, (budgetTokens * AIM) / Math.max(1, tokensShown)))
  }
  if (best !== undefined) return best
  const least = emptiest(document)
  return { ...least, tokensShown: await countBoth(least), isCut: true }
}
