import { formatNumber } from '../kernel/format.ts'
import type { JsonValue } from '../kernel/json.ts'
import { failure, type Result, success } from '../kernel/result.ts'
import { shorten } from './cut-text.ts'
import { describeMiss } from './describe-miss.ts'
import { countLines, formatAmount } from './format-counts.ts'
import { readHeadings } from './headings.ts'
import { describePathFault, type Path, parsePath, renderPath } from './path.ts'
import { renderDocument } from './render-document.ts'
import { renderShape } from './render-shape.ts'
import type { PipelineStep, ResultDocument, StepOutput, TextDocument } from './result-document.ts'
import { createShapeReader, MAX_SAMPLES } from './value-shape.ts'
import { MAX_EXTREMES } from './value-tally.ts'
import { visitAt } from './visit-path.ts'

const FIRST_LINES = 3
const MAX_LINE_CHARACTERS = 120
const MAX_ELEMENTS = 15
const MAX_HEADINGS = 20
/** Maximum number of characters searched for headings. The search is limited because every unclosed tag takes time. */
const HEADINGS_WITHIN = 500_000
const ELEMENT = /<([a-z][\w:.-]*)/gi
/** Headings in HTML. Lengths are limited so that an unclosed heading costs no more than a line. */
const HTML_HEADING = /<(h[1-6])\b[^>]{0,300}>([^<]{1,200})/gi

const cut = (text: string): string => shorten(text, MAX_LINE_CHARACTERS)

const countMatches = (text: string, pattern: RegExp): number => {
  let count = 0
  for (const _ of text.matchAll(pattern)) count++
  return count
}

const describeElements = (text: string): readonly string[] => {
  const counts = new Map<string, number>()
  for (const [, name = ''] of text.matchAll(ELEMENT)) counts.set(name, (counts.get(name) ?? 0) + 1)
  const most = [...counts].sort((a, b) => b[1] - a[1]).slice(0, MAX_ELEMENTS)
  return most.length === 0
    ? []
    : [`elements: ${most.map(([name, count]) => `${name} ${formatNumber(count)}`).join(', ')}`]
}

/** Returns the first headings, each with its level: `h1 Title` in HTML, `# Title` in Markdown and the like. */
const listHeadings = ({ text: whole, format }: TextDocument): readonly string[] => {
  const text = whole.slice(0, HEADINGS_WITHIN)
  if (format !== 'html') {
    const headings = readHeadings(text.split('\n')).slice(0, MAX_HEADINGS)
    return headings.map(heading => `${'#'.repeat(heading.level)} ${heading.text}`)
  }
  const found = [...text.matchAll(HTML_HEADING)].slice(0, MAX_HEADINGS)
  return found.map(([, name, title = '']) => cut(`${name} ${title}`.replace(/\s+/g, ' ').trim()))
}

const describeHeadings = (document: TextDocument): readonly string[] => {
  const headings = listHeadings(document)
  return headings.length === 0 ? [] : ['headings:', ...headings.map(heading => `  ${heading}`)]
}

/** Describes a text: its length, elements, headings and first lines. */
const describeText = (document: TextDocument): string => {
  const { text, format } = document
  if (text === '') return 'The result is empty.'
  const lines = countLines(text)
  const words = countMatches(text, /\S+/g)
  const first = text
    .slice(0, FIRST_LINES * MAX_LINE_CHARACTERS * 4)
    .split('\n')
    .filter(line => line.trim() !== '')
  return [
    `${format}: ${formatAmount(lines, lines, 'line')}, ${formatAmount(words, words, 'word')}, ${formatAmount(text.length, text.length, 'character')}`,
    ...(format === 'text' ? [] : describeElements(text)),
    ...describeHeadings(document),
    'it begins:',
    ...first.slice(0, FIRST_LINES).map(line => `  ${cut(line.trim())}`),
  ].join('\n')
}

export type ExploreParams = {
  /** Path to start from, such as `users[].address`. Defaults to the whole result. */
  path?: string | undefined
  /** Number of levels of members to describe, at least 1. By default 4, or more if that is little. */
  depth?: number | undefined
  /** Number of sample values per place, from 0 to MAX_SAMPLES. */
  samples?: number | undefined
}

const DEFAULT_DEPTH = 4
const MAX_DEPTH = 20
/** Depth used instead of the default for an outline that would be short, if the outline is not long then. */
const DEEPER = 8
const SHORT_CHARACTERS = 800
const LONG_CHARACTERS = 5_000
/** An outline of at most this many characters names the records of extremes, and a shorter one shows several of them. */
const NAMED_CHARACTERS = 2_000
const SEVERAL_CHARACTERS = 400
const DEFAULT_SAMPLES = 3

/** Returns the outline of the values at a path, and a function that adds detail to it. Undefined if there are none. */
const outlineAt = (root: JsonValue, path: Path, { depth, samples }: { depth: number; samples: number }) => {
  const reader = createShapeReader()
  visitAt(root, path, reader.trail, value => reader.add(value, depth))
  const { count } = reader.shape
  if (count === 0) return undefined
  const many = count > 1 ? `${formatNumber(count)} places, each ` : ''
  const render = (extremes: number, hasNames: boolean): string => {
    const [first = '', ...rest] = renderShape(reader.shape, { samples, extremes, hasNames })
    return [`${path.length === 0 ? '$' : renderPath(path)}: ${many}${first}`, ...rest].join('\n')
  }
  return { text: render(1, false), render }
}

const exploreJson = (root: JsonValue, path: Path, params: ExploreParams): Result<StepOutput, string> => {
  const samples = Math.min(params.samples ?? DEFAULT_SAMPLES, MAX_SAMPLES)
  const outline = outlineAt(root, path, { depth: Math.min(params.depth ?? DEFAULT_DEPTH, MAX_DEPTH), samples })
  if (outline === undefined) return failure(describeMiss(root, path))
  const isShort = params.depth === undefined && outline.text.length < SHORT_CHARACTERS
  const deeper = isShort ? outlineAt(root, path, { depth: DEEPER, samples }) : undefined
  const chosen = deeper === undefined || deeper.text.length > LONG_CHARACTERS ? outline : deeper
  const { length } = chosen.text
  const extremes = length > SEVERAL_CHARACTERS ? 1 : Math.min(samples, MAX_EXTREMES)
  const text = length > NAMED_CHARACTERS || samples === 0 ? chosen.text : chosen.render(extremes, true)
  return success({ document: { kind: 'text', text, format: 'text' }, notes: [] })
}

const apply = (document: ResultDocument, params: ExploreParams): Result<StepOutput, string> => {
  const text = params.path ?? ''
  const path = parsePath(text)
  if (!path.ok) return failure(describePathFault(text, path.error))
  if (document.kind === 'json') return exploreJson(document.value, path.value, params)
  const described = document.kind === 'text' ? describeText(document) : renderDocument(document)
  const notes = path.value.length > 0 ? ['The result has no members, so the path was ignored.'] : []
  return success({ document: { kind: 'text', text: described, format: 'text' }, notes })
}

/** Describes a result in an outline: kinds, names, sizes, different values, the most frequent ones and the extremes. */
export const explore: PipelineStep<ExploreParams> = { name: 'explore', isRequested: () => true, apply }
