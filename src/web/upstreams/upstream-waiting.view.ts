import { isDeepStrictEqual } from 'node:util'
import { formatCount, formatNumber } from '../../lib/kernel/format.ts'
import type { JsonObject, JsonValue } from '../../lib/kernel/json.ts'
import { removeHidden } from '../../upstreams/catalogue/hidden-text.ts'
import { hashOfName as nameHashOf, type PendingTool } from '../../upstreams/review/tool-review.ts'
import type { UpstreamReview } from '../../upstreams/review/upstream-reviews.ts'

/** Number of changes per page, small because a change may be long. */
export const WAITING_PER_PAGE = 5
/** Maximum length of either side of a change. Longer text is cut around the difference. */
const MAX_CHARS = 8_000
/** Number of characters shown before and after the difference in text that is cut. */
const AROUND_CHARS = 400

const FIELD_WORDS: Readonly<Record<string, string>> = {
  title: 'title',
  description: 'description',
  inputSchema: 'input schema',
  outputSchema: 'output schema',
  annotations: 'annotations',
}

const toText = (value: JsonValue | undefined): string => {
  if (value === undefined) return ''
  return typeof value === 'string' ? value : JSON.stringify(value, null, 2)
}

/** Returns the length of the common prefix of two strings. */
const lengthAlike = (one: string, other: string): number => {
  const most = Math.min(one.length, other.length)
  let alike = 0
  while (alike < most && one[alike] === other[alike]) alike++
  return alike
}

/** Returns the length of the common suffix of two strings, ignoring their first `skip` characters. */
const lengthAlikeAtEnd = (one: string, other: string, skip: number): number => {
  const most = Math.min(one.length, other.length) - skip
  let alike = 0
  while (alike < most && one.at(-1 - alike) === other.at(-1 - alike)) alike++
  return alike
}

type Alike = { before: number; after: number }

/** Splits text into the difference and the parts before and after it. Cuts text that is too long. */
const toSide = (text: string, { before, after }: Alike) => {
  const end = text.length - after
  const from = text.length <= MAX_CHARS ? 0 : Math.max(0, before - AROUND_CHARS)
  const marked = text.slice(before, Math.min(end, before + MAX_CHARS))
  const to = text.length <= MAX_CHARS ? text.length : Math.min(text.length, end + AROUND_CHARS)
  const hidden = from + (end - before - marked.length) + (text.length - to)
  const isCutShort = marked.length < end - before
  return {
    lead: `${from > 0 ? '…' : ''}${text.slice(from, before)}`.toWellFormed(),
    marked: `${marked}${isCutShort ? '…' : ''}`.toWellFormed(),
    trail: `${isCutShort ? '…' : ''}${text.slice(end, to)}${to < text.length ? '…' : ''}`.toWellFormed(),
    cut: hidden === 0 ? undefined : `${formatCount(hidden, 'more character')}, not shown here`,
  }
}

/** Replaces invisible characters with their code points, because they could deceive a reader. */
const showHidden = (text: string): string => {
  const plain = removeHidden(text)
  if (plain === text) return text
  return [...text]
    .map(sign => (removeHidden(sign) === sign ? sign : `\\u{${sign.codePointAt(0)?.toString(16)}}`))
    .join('')
}

const toRow = (field: string, before: JsonValue | undefined, after: JsonValue | undefined) => {
  const [from, to] = [showHidden(toText(before)), showHidden(toText(after))]
  const start = lengthAlike(from, to)
  const alike = { before: start, after: lengthAlikeAtEnd(from, to, start) }
  return {
    field: FIELD_WORDS[field] ?? showHidden(field).slice(0, 40),
    from: toSide(from, alike),
    to: toSide(to, alike),
  }
}

const toRows = (before: JsonObject | undefined, after: JsonObject) => {
  const fields = [...new Set([...Object.keys(FIELD_WORDS), ...Object.keys(before ?? {}), ...Object.keys(after)])]
  return fields
    .filter(field => !isDeepStrictEqual(before?.[field], after[field]))
    .map(field => toRow(field, before?.[field], after[field]))
}

/** Returns a tool that is waiting for approval, with its live version beside the new one. */
export const toWaitingTool = ({ name, hash, before, after }: PendingTool) => ({
  name: removeHidden(name),
  /** Value submitted by the tool's form, which identifies the tool and the version shown here. */
  tool: `${nameHashOf(name)}.${hash}`,
  isNew: before === undefined,
  rows: toRows(before, after),
})

const summaryOf = (waiting: readonly PendingTool[]): string => {
  const added = waiting.filter(({ before }) => before === undefined).length
  return Object.entries({ new: added, changed: waiting.length - added })
    .flatMap(([what, count]) => (count === 0 ? [] : `${formatNumber(count)} ${what}`))
    .join(', ')
}

/** Summarizes an upstream's tools that are waiting for approval. Returns undefined if there are none. */
export const toWaitingHead = ({ version, waiting }: UpstreamReview) =>
  waiting.length === 0
    ? undefined
    : { version, summary: summaryOf(waiting), all: formatCount(waiting.length, 'tool'), isOne: waiting.length === 1 }
