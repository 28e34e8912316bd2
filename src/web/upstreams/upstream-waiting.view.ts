import { isDeepStrictEqual } from 'node:util'
import { formatCount, formatNumber } from '../../lib/http/pages/format.ts'
import type { JsonObject, JsonValue } from '../../lib/kernel/json.ts'
import { removeHidden } from '../../upstreams/catalogue/hidden-text.ts'
import { hashOfName as nameHashOf, type PendingTool } from '../../upstreams/review/tool-review.ts'
import type { UpstreamReview } from '../../upstreams/review/upstream-reviews.ts'

/** Changes that a page shows: each may be long. */
export const WAITING_PER_PAGE = 5
/** Of one side of a change: what is longer is cut around where it differs, and that is said. */
const MAX_CHARS = 8_000
/** What stands before and after the difference, of what is cut. */
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

/** How many characters the two begin with alike. */
const lengthAlike = (one: string, other: string): number => {
  const most = Math.min(one.length, other.length)
  let alike = 0
  while (alike < most && one[alike] === other[alike]) alike++
  return alike
}

/** How many they end with alike, without the first `skip`. */
const lengthAlikeAtEnd = (one: string, other: string, skip: number): number => {
  const most = Math.min(one.length, other.length) - skip
  let alike = 0
  while (alike < most && one.at(-1 - alike) === other.at(-1 - alike)) alike++
  return alike
}

type Alike = { before: number; after: number }

/** A text in three: what is as on the other side, what differs, and what is the same again; cut where it is long. */
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

/** Hidden marks are what somebody may be fooled by: they are shown by their numbers. */
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

/** One tool that waits, with what is live of it beside what it would be. */
export const toWaitingTool = ({ name, hash, before, after }: PendingTool) => ({
  name: removeHidden(name),
  /** What its form sends: which tool, as it is shown here. */
  tool: `${nameHashOf(name)}.${hash}`,
  isNew: before === undefined,
  rows: toRows(before, after),
})

const summaryOf = (waiting: readonly PendingTool[]): string => {
  const added = waiting.filter(({ before }) => before === undefined).length
  const changed = waiting.length - added
  const parts = [
    ...(added === 0 ? [] : [`${formatNumber(added)} new`]),
    ...(changed === 0 ? [] : [`${formatNumber(changed)} changed`]),
  ]
  return parts.join(', ')
}

/** What waits of an upstream; undefined where nothing does. */
export const toWaitingHead = ({ version, waiting }: UpstreamReview) =>
  waiting.length === 0
    ? undefined
    : { version, summary: summaryOf(waiting), all: formatCount(waiting.length, 'tool'), isOne: waiting.length === 1 }
