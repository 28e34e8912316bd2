import { removeHidden } from '../upstreams/index.ts'
import type { ToolGroup } from './tool-group.ts'

/** Of all that is said of the groups besides their names, in characters: with it the model reads some 1,500 tokens. */
const MAX_NOTES_CHARS = 6_000
/** Of one group's description, and of what it failed with. */
const MAX_NOTE_CHARS = 300
/** Of the lines of all groups; the names of those that have no place are in the answer to an unknown one. */
const MAX_LINES_CHARS = 20_000
/** Names that an error lists: as many as there can be upstreams. */
const MAX_NAMES = 100
/** Of a name that a model made up. */
const MAX_QUOTED_CHARS = 100

export const cutText = (text: string, chars: number): string =>
  text.length > chars ? `${text.slice(0, Math.max(chars - 1, 0)).toWellFormed()}…` : text

/** On one line, without what nobody sees. */
export const onOneLine = (text: string): string => removeHidden(text).replaceAll(/\s+/g, ' ').trim()

const countText = (count: number): string => `${count} ${count === 1 ? 'tool' : 'tools'}`

const lineOf = ({ name, description, outage, tools }: ToolGroup, noteChars: number): string => {
  const state = outage === undefined ? '' : `; failed: ${cutText(onOneLine(outage), noteChars)}`
  const known = tools === undefined ? 'tools not known yet' : countText(tools.length)
  const note = description === undefined ? '' : cutText(onOneLine(description), noteChars)
  return `- ${name} (${known}${state})${note === '' ? '' : `: ${note}`}`
}

/** A line for each group: what it is, and what is wrong with it. Bounded, however many there are. */
export const describeGroups = (groups: readonly ToolGroup[]): string => {
  if (groups.length === 0) return 'There are none yet.'
  const noteChars = Math.min(MAX_NOTE_CHARS, Math.floor(MAX_NOTES_CHARS / groups.length))
  const lines: string[] = []
  let chars = 0
  for (const group of groups) {
    const line = lineOf(group, noteChars)
    chars += line.length
    if (chars > MAX_LINES_CHARS) break
    lines.push(line)
  }
  const more = groups.length - lines.length
  return [...lines, ...(more > 0 ? [`- and ${more} more`] : [])].join('\n')
}

export const quoteName = (name: string): string => `"${cutText(onOneLine(name), MAX_QUOTED_CHARS)}"`

/** What there is instead of what was asked for; `of`: such as `The groups`. */
export const listNames = (of: string, names: readonly string[]): string => {
  if (names.length === 0) return `${of}: none.`
  const listed = names.slice(0, MAX_NAMES).map(name => JSON.stringify(name))
  const more = names.length - listed.length
  return `${of}: ${listed.join(', ')}${more > 0 ? ` and ${more} more` : ''}.`
}
