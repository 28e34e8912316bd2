import { type Heading, headingAbove, lastHeading, renderHeading } from '../json/headings.ts'
import type { StepOutput } from '../json/result-document.ts'
import { formatNumber } from '../kernel/format.ts'
import { type Result, success } from '../kernel/result.ts'
import { excerptOf } from './excerpt.ts'
import { findHits, type Hit, pickHits } from './find-hits.ts'
import { parseFuzzy } from './fuzzy.ts'
import { locate } from './json-matches.ts'
import type { Matcher, Span } from './matcher.ts'
import {
  createMatcher,
  describeCount,
  describeGaps,
  describeNoMatch,
  describeReplacements,
  hintCase,
  hintRegex,
  hintWords,
  type Query,
  takeFitting,
} from './query.ts'
import type { TextIndex } from './search-index.ts'
import { contextAround } from './sentences.ts'

/** Characters shown from the beginning of the text if nothing is found. */
const BEGINNING_CHARS = 200

const toDocument = (text: string, notes: readonly string[]): StepOutput => ({
  document: { kind: 'text', text, format: 'text' },
  notes,
})

const fitting = (blocks: readonly string[], separator: string): string[] =>
  takeFitting(blocks, block => block.length + separator.length)

const describeNothing = ({ document, lines }: TextIndex, pattern: string, hints: readonly string[]): StepOutput => {
  const start = document.text.slice(0, BEGINNING_CHARS).trim()
  const begins =
    start === '' ? 'It is empty.' : `It begins: ${start}${document.text.length > BEGINNING_CHARS ? '…' : ''}`
  return toDocument('', [describeNoMatch(pattern, lines.length, 'line'), ...hints, begins])
}

const lineAt = (starts: readonly number[], at: number): number => {
  let low = 0
  let high = starts.length - 1
  while (low < high) {
    const middle = (low + high + 1) >> 1
    if ((starts[middle] ?? 0) <= at) low = middle
    else high = middle - 1
  }
  return low
}

/** The lines of a match, and its position in the first of these lines. */
type LineMatch = { first: number; last: number; span: Span | undefined; label?: string }

/** Returns what continues the position of a block of lines: `, under Fixes`. Empty if no heading is above it. */
const underHeading = (index: TextIndex, line: number, from: number): string => {
  const heading = headingAbove(index.headings(), line, from)
  return heading === undefined ? '' : `, under ${renderHeading(heading)}`
}

/** Creates a function that returns the line to show above a block of lines: the nearest heading, if it is not shown yet. */
const createLeads = (headings: readonly Heading[]) => {
  let shown: Heading | undefined
  return (first: number, from: number, to: number): string => {
    const heading = headingAbove(headings, first, from)
    const lead = heading === undefined || heading === shown ? '' : `under ${renderHeading(heading)}:\n`
    const last = lastHeading(headings, to)
    shown = last !== undefined && last.line >= from ? last : heading
    return lead
  }
}

/**
 * Renders matches like `grep -n`: `12: ` before a matching line, `12- ` before a line of context. The nearest heading
 * above precedes them, once for all below it.
 */
const renderLines = (
  { lines, headings }: TextIndex,
  matches: readonly LineMatch[],
  contextLines: number,
): readonly string[] => {
  const blocks: string[][] = []
  const leadOf = createLeads(headings())
  let behind = -1
  const isMatch = new Set(matches.flatMap(({ first, last }) => [first, last]))
  for (const { first, last, span, label } of matches) {
    const from = Math.max(first - contextLines, behind, 0)
    const to = Math.min(last + contextLines, lines.length - 1)
    if (from > behind || blocks.length === 0) blocks.push([])
    const block = blocks.at(-1) ?? []
    const lead = leadOf(first, from, to)
    for (let line = first < behind ? first : from; line <= to; line++) {
      // A long line may have several matches, each shown separately.
      if (line < behind && line !== first) continue
      const text = lines[line] ?? ''
      const sign = isMatch.has(line) ? ':' : '-'
      const column = line === first && span !== undefined && text.length > 300 ? `${span.start + 1}:` : ''
      const above = block.length === 0 ? lead : ''
      block.push(
        `${above}${line + 1}${sign}${column} ${label !== undefined && line === first ? label : ''}${excerptOf(text, line === first ? span : undefined)}`,
      )
    }
    behind = Math.max(behind, to + 1)
  }
  return contextLines > 0 ? blocks.map(block => block.join('\n')) : blocks.flat()
}

const toLineMatch = (index: TextIndex, hit: Hit, matcher: Matcher, multiline: boolean): LineMatch => {
  const text = (multiline ? [index.document.text] : index.lines)[hit.passage] ?? ''
  const span = locate(hit, text, matcher)
  if (!multiline) return { first: hit.passage, last: hit.passage, span }
  const first = lineAt(index.lineStarts, span?.start ?? 0)
  const last = lineAt(index.lineStarts, Math.max(span?.start ?? 0, (span?.end ?? 0) - 1))
  const start = index.lineStarts[first] ?? 0
  return { first, last, span: span === undefined ? undefined : { start: span.start - start, end: span.end - start } }
}

const renderContexts = (index: TextIndex, matches: readonly LineMatch[], sentences: number): readonly string[] => {
  const { text } = index.document
  const blocks: string[] = []
  let behind = 0
  for (const { first, span } of matches) {
    const start = index.lineStarts[first] ?? 0
    const at = { start: start + (span?.start ?? 0), end: start + (span?.end ?? 0) }
    const around = contextAround(text, at, sentences)
    if (blocks.length > 0 && at.end <= behind) continue
    const lineNumbers = [around.start, Math.max(around.start, around.end - 1)].map(
      each => lineAt(index.lineStarts, each) + 1,
    )
    const where = lineNumbers[0] === lineNumbers[1] ? `line ${lineNumbers[0]}` : `lines ${lineNumbers.join('-')}`
    const under = underHeading(index, first, lineAt(index.lineStarts, around.start))
    blocks.push(`${where}${under}:\n${text.slice(around.start, around.end)}`)
    behind = around.end
  }
  return blocks
}

const searchMatches = (index: TextIndex, query: Query): Result<StepOutput, string> => {
  const parsed = createMatcher(query)
  if (!parsed.ok) return parsed
  const { matcher, notes } = parsed.value
  const { multiline } = query
  const eachMatch = multiline || query.mode === 'context'
  const found = findHits(multiline ? [index.document.text] : index.lines, matcher, {
    multiline,
    eachMatch,
    isLate: query.isLate,
  })
  const late = describeGaps(found)
  if (found.total === 0) {
    const hints = [
      ...hintRegex(index.lines, 'Lines', query),
      ...hintCase(index.lines, 'Lines', query),
      ...hintWords(query),
    ]
    const nothing = describeNothing(index, query.pattern, hints)
    return success({ ...nothing, notes: [...notes, ...late, ...nothing.notes] })
  }
  const { picked, covered } = eachMatch
    ? { picked: found.hits.slice(0, query.topK), covered: Math.min(found.hits.length, query.topK) }
    : pickHits(found.hits, query.topK)
  const shown = picked.map(hit => toLineMatch(index, hit, matcher, multiline))
  const isContext = query.mode === 'context'
  const blocks = isContext
    ? renderContexts(index, shown, query.contextLines ?? 1)
    : renderLines(index, shown, query.contextLines ?? 0)
  const separator = isContext ? '\n\n' : (query.contextLines ?? 0) > 0 ? '\n--\n' : '\n'
  const text = fitting(blocks, separator).join(separator)
  // If a line has several hits, matches are counted instead of lines.
  const isEach = eachMatch || found.hits.some(({ passage }, at) => passage === found.hits[at - 1]?.passage)
  const what = isEach ? 'matches in all' : 'lines match'
  return success(toDocument(text, [...notes, ...describeCount(found.total, covered, what, found.isAtLeast), ...late]))
}

const searchFuzzy = (index: TextIndex, query: Query): Result<StepOutput, string> => {
  const parsed = parseFuzzy(query.pattern, query.maxDistance)
  if (!parsed.ok) return parsed
  const found: (LineMatch & { distance: number })[] = []
  let isPartial = false
  for (const [line, text] of index.lines.entries()) {
    isPartial = query.isLate()
    if (isPartial) break
    const near = parsed.value.find(text)
    if (near === undefined) continue
    const label = `[distance ${near.distance}: ${text.slice(near.span.start, near.span.end)}] `
    found.push({ first: line, last: line, span: near.span, label, distance: near.distance })
  }
  const late = describeGaps({ isPartial })
  if (found.length === 0) {
    const nothing = describeNothing(index, query.pattern, [`max_distance was ${parsed.value.maxDistance}.`])
    return success({ ...nothing, notes: [...late, ...nothing.notes] })
  }
  const shown = found.sort((one, other) => one.distance - other.distance).slice(0, query.topK)
  const blocks = shown.flatMap(match => renderLines(index, [match], query.contextLines ?? 0))
  const text = fitting(blocks, '\n').join('\n')
  return success(toDocument(text, [...describeCount(found.length, shown.length, 'lines match'), ...late]))
}

const searchRanked = (index: TextIndex, query: Query): Result<StepOutput, string> => {
  const { paragraphs, ranking } = index.ranked()
  const { ranked, replacements } = ranking.rank(query.pattern)
  if (ranked.length === 0) return success(describeNothing(index, query.pattern, []))
  const blocks = ranked.slice(0, query.topK).flatMap(({ index: at, score }) => {
    const paragraph = paragraphs[at]
    if (paragraph === undefined) return []
    const { span, firstLine, lastLine } = paragraph
    const where = firstLine === lastLine ? `line ${firstLine}` : `lines ${firstLine}-${lastLine}`
    const under = underHeading(index, firstLine - 1, firstLine - 1)
    return [`${where}${under}, score ${score.toFixed(2)}:\n${index.document.text.slice(span.start, span.end).trim()}`]
  })
  const shown = fitting(blocks, '\n\n')
  return success(
    toDocument(shown.join('\n\n'), [
      ...describeReplacements(replacements),
      ...describeCount(ranked.length, shown.length, `of ${formatNumber(ranking.size)} paragraphs match`),
    ]),
  )
}

/** Searches a text by lines or paragraphs. Matches are shown with their line numbers. */
export const searchText = (index: TextIndex, query: Query): Result<StepOutput, string> => {
  if (query.mode === 'bm25') return searchRanked(index, query)
  if (query.mode === 'fuzzy') return searchFuzzy(index, query)
  return searchMatches(index, query)
}
