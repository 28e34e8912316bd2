import { countLines, formatAmount, formatNumber } from './format-counts.ts'
import type { ResultDocument } from './result-document.ts'

type TextDocument = Extract<ResultDocument, { kind: 'text' }>

const FIRST_LINES = 3
const MAX_LINE_CHARACTERS = 120
const MAX_ELEMENTS = 15
const MAX_HEADINGS = 20
/** Headings are looked for in so much of the beginning: markup that is never closed costs time wherever it begins. */
const HEADINGS_WITHIN = 500_000
const ELEMENT = /<([a-z][\w:.-]*)/gi
/** Headings of HTML and of Markdown; bounded, so that one left open costs no more than a line. */
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

/** How long a text is, what stands in it, and how it begins. */
export const describeText = (document: TextDocument): string => {
  const { text, format } = document
  if (text === '') return 'The answer is empty.'
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
