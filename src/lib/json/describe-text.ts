import { countLines, formatAmount, formatNumber } from './format-counts.ts'
import type { ResultDocument } from './result-document.ts'

type TextDocument = Extract<ResultDocument, { kind: 'text' }>

const FIRST_LINES = 3
const MAX_LINE_CHARACTERS = 120
const MAX_ELEMENTS = 15
const MAX_HEADINGS = 20
/** Characters searched for headings: every unclosed tag costs time. */
const HEADINGS_WITHIN = 500_000
const ELEMENT = /<([a-z][\w:.-]*)/gi
/** Headings of HTML and Markdown. Lengths are bounded so that an unclosed heading costs no more than a line. */
const HTML_HEADING = /<(h[1-6])\b[^>]{0,300}>([^<]{1,200})/gi
const MARKDOWN_HEADING = /^#{1,6} +\S.{0,200}$/gm

const cut = (line: string): string =>
  line.length > MAX_LINE_CHARACTERS ? `${line.slice(0, MAX_LINE_CHARACTERS)}…` : line

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

const describeHeadings = ({ text: whole, format }: TextDocument): readonly string[] => {
  const text = whole.slice(0, HEADINGS_WITHIN)
  const headings: string[] = []
  const found = format === 'html' ? text.matchAll(HTML_HEADING) : text.matchAll(MARKDOWN_HEADING)
  for (const match of found) {
    headings.push(cut((format === 'html' ? `${match[1]} ${match[2] ?? ''}` : match[0]).replace(/\s+/g, ' ').trim()))
    if (headings.length === MAX_HEADINGS) break
  }
  return headings.length === 0 ? [] : ['headings:', ...headings.map(heading => `  ${heading}`)]
}

/** Describes a text: its length, elements, headings and first lines. */
export const describeText = (document: TextDocument): string => {
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
