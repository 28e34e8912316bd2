import { shorten } from './cut-text.ts'

/**
 * A heading of a text in Markdown or a similar form. `parent` is the nearest heading above with a lower level, unless that
 * is the title of the text.
 */
export type Heading = Readonly<{ line: number; level: number; text: string; parent: Heading | undefined }>

/** Maximum characters of a line with a heading. Most of a longer one may be the address of a link. */
const MAX_LINE_CHARACTERS = 300
/** Maximum characters shown of a heading. */
const MAX_SHOWN_CHARACTERS = 80
const MARKED = /^(#{1,6}) +(\S.*)$/
const UNDERLINE = /^(?:={3,}|-{3,})$/
const FENCE = /^ {0,3}(?:```|~~~)/
const LINK = /!?\[([^[\]]*)\]\([^()]*\)/g
/** How much an underline may be longer or shorter than its heading. Other lines of dashes are separators. */
const MAX_UNDERLINE_DIFFERENCE = 3

const toText = (text: string): string =>
  shorten(text.replaceAll(LINK, '$1').replace(/ #+$/, '').trim(), MAX_SHOWN_CHARACTERS)

/** Returns the level and text of a line that begins like a heading. A block of lines that begin with one `#` is a comment. */
const readMarked = (lines: readonly string[], at: number): { level: number; text: string } | undefined => {
  const [, marks = '', text = ''] = MARKED.exec(lines[at] ?? '') ?? []
  if (marks === '') return undefined
  const isComment = marks === '#' && ((lines[at - 1] ?? '').trim() !== '' || (lines[at + 1] ?? '').startsWith('# '))
  return isComment ? undefined : { level: marks.length, text: toText(text) }
}

/** Returns the level and text of a line that the next line underlines. */
const readUnderlined = (lines: readonly string[], at: number): { level: number; text: string } | undefined => {
  const underline = (lines[at + 1] ?? '').trimEnd()
  if (underline.length > MAX_LINE_CHARACTERS || !UNDERLINE.test(underline)) return undefined
  const text = (lines[at] ?? '').trim()
  const isHeading =
    text !== '' &&
    !UNDERLINE.test(text) &&
    (lines[at - 1] ?? '').trim() === '' &&
    Math.abs(text.length - underline.length) <= MAX_UNDERLINE_DIFFERENCE
  return isHeading ? { level: underline.startsWith('=') ? 1 : 2, text: toText(text) } : undefined
}

type Found = { line: number; level: number; text: string }

const findHeadings = (lines: readonly string[]): Found[] => {
  const found: Found[] = []
  let isCode = false
  for (const [line, text] of lines.entries()) {
    if (text === '' || text.length > MAX_LINE_CHARACTERS) continue
    if (FENCE.test(text)) isCode = !isCode
    const heading = isCode ? undefined : (readMarked(lines, line) ?? readUnderlined(lines, line))
    if (heading !== undefined) found.push({ line, ...heading })
  }
  return found
}

/** Returns the headings of a text in order: lines that begin with `#`, and lines that are underlined. */
export const readHeadings = (lines: readonly string[]): readonly Heading[] => {
  const found = findHeadings(lines)
  const hasTitle = found[0]?.level === 1 && found.filter(({ level }) => level === 1).length === 1
  const headings: Heading[] = []
  for (const [index, each] of found.entries()) {
    let parent = hasTitle && index === 1 ? undefined : headings.at(-1)
    while (parent !== undefined && parent.level >= each.level) parent = parent.parent
    headings.push({ ...each, parent })
  }
  return headings
}

/** Returns the last heading at or above a line. */
export const lastHeading = (headings: readonly Heading[], line: number): Heading | undefined => {
  let low = 0
  let high = headings.length
  while (low < high) {
    const middle = (low + high) >> 1
    if ((headings[middle]?.line ?? 0) <= line) low = middle + 1
    else high = middle
  }
  return headings[low - 1]
}

/** Returns the nearest heading above a line whose own line is above `from`, the first line that is shown. */
export const headingAbove = (headings: readonly Heading[], line: number, from: number): Heading | undefined => {
  let heading = lastHeading(headings, line)
  while (heading !== undefined && heading.line >= from) heading = heading.parent
  return heading
}

/** Renders a heading and the one around it, such as `2.1.0 > Fixes`. */
export const renderHeading = ({ text, parent }: Heading): string =>
  parent === undefined ? text : `${parent.text} > ${text}`
