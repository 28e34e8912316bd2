import { isDeepStrictEqual } from 'node:util'
import { formatCount, formatNumber } from '../../lib/kernel/format.ts'
import type { JsonObject, JsonValue } from '../../lib/kernel/json.ts'
import { removeHidden } from '../../upstreams/catalogue/hidden-text.ts'
import { hashOfName as nameHashOf, type PendingTool } from '../../upstreams/review/tool-review.ts'
import type { UpstreamReview } from '../../upstreams/review/upstream-reviews.ts'
import { diffLines } from './line-diff.ts'
import { toReviewFlags } from './review-flags.ts'

/** Number of changes per page, small because a change may be long. */
export const CHANGES_PER_PAGE = 5
/** Maximum numbers of added and of removed lines shown of one field, each, so that removed lines hide no new text. */
const MAX_LINES = 200
/** Maximum length of a line. A longer line is cut around the difference. */
const MAX_CHARS = 2_000
/** Number of characters shown before and after the difference in a line that is cut. */
const AROUND_CHARS = 200

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

type Line = ReturnType<typeof toSide> & { sign: 'removed' | 'added' }

const WHOLE: Alike = { before: 0, after: 0 }

/** Returns replaced lines with their differences marked. Each removed line is compared with the one in its place. */
const toLines = (removed: readonly string[], added: readonly string[]): Line[] => {
  const alikeAt = (index: number): Alike => {
    const [from, to] = [removed[index], added[index]]
    if (from === undefined || to === undefined) return WHOLE
    const before = lengthAlike(from, to)
    return { before, after: lengthAlikeAtEnd(from, to, before) }
  }
  return [
    ...removed.map((line, index) => ({ sign: 'removed' as const, ...toSide(line, alikeAt(index)) })),
    ...added.map((line, index) => ({ sign: 'added' as const, ...toSide(line, alikeAt(index)) })),
  ]
}

const toRow = (field: string, before: JsonValue | undefined, after: JsonValue | undefined) => {
  const parts = diffLines(showHidden(toText(before)), showHidden(toText(after)))
  const lines = parts.flatMap(part => ('kept' in part ? [] : toLines(part.removed, part.added)))
  const firstOf = (sign: Line['sign']) => lines.filter(line => line.sign === sign).slice(0, MAX_LINES)
  const firstLines = new Set([...firstOf('removed'), ...firstOf('added')])
  const shown = lines.filter(line => firstLines.has(line))
  return {
    field: FIELD_WORDS[field] ?? showHidden(field).slice(0, 40),
    lines: shown,
    more:
      lines.length > shown.length
        ? `${formatCount(lines.length - shown.length, 'more changed line')}, not shown here`
        : undefined,
  }
}

const toRows = (before: JsonObject | undefined, after: JsonObject) => {
  const fields = [...new Set([...Object.keys(FIELD_WORDS), ...Object.keys(before ?? {}), ...Object.keys(after)])]
  return fields
    .filter(field => !isDeepStrictEqual(before?.[field], after[field]))
    .map(field => toRow(field, before?.[field], after[field]))
}

/** Value submitted by a tool's form, which identifies the tool and the version that was shown. */
const formValueOf = ({ name, hash }: PendingTool): string => `${nameHashOf(name)}.${hash}`

/** Returns a tool whose new definition is waiting or was rejected, with the lines that differ from its live version. */
export const toReviewedTool = (tool: PendingTool) => ({
  name: removeHidden(tool.name),
  tool: formValueOf(tool),
  isNew: tool.before === undefined,
  flags: toReviewFlags(tool).map(showHidden),
  rows: toRows(tool.before, tool.after),
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
