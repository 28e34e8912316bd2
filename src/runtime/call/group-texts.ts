import { removeHidden } from '../../upstreams/catalogue/hidden-text.ts'
import type { CompiledTool } from './compiled-tool.ts'
import type { ToolGroup } from './tool-group.ts'

/** Maximum total length of the notes about groups, about 1,500 tokens. */
const MAX_NOTES_CHARS = 6_000
/** Maximum length of a group's description or error message. */
const MAX_NOTE_CHARS = 300
/** Maximum total length of the lines that describe groups. The error for an unknown group names the groups left out. */
const MAX_LINES_CHARS = 20_000
/** Maximum number of names in an error message, equal to the maximum number of upstreams. */
const MAX_NAMES = 100
/** Maximum length of a quoted name, which a model may have invented. */
const MAX_QUOTED_CHARS = 100

export const cutText = (text: string, chars: number): string =>
  text.length > chars ? `${text.slice(0, Math.max(chars - 1, 0)).toWellFormed()}…` : text

/** Puts a text on one line and removes invisible characters. */
export const onOneLine = (text: string): string => removeHidden(text).replaceAll(/\s+/g, ' ').trim()

/** Returns the tools that lists contain. */
export const listShownTools = (tools: readonly CompiledTool[]): readonly CompiledTool[] =>
  tools.filter(({ isHidden }) => isHidden !== true)

const countText = (count: number): string => `${count} ${count === 1 ? 'tool' : 'tools'}`

const lineOf = ({ name, description, outage, tools }: ToolGroup, noteChars: number): string => {
  const state = outage === undefined ? '' : `; failed: ${cutText(onOneLine(outage), noteChars)}`
  const known = tools === undefined ? 'tools not known yet' : countText(listShownTools(tools).length)
  const note = description === undefined ? '' : cutText(onOneLine(description), noteChars)
  return `- ${name} (${known}${state})${note === '' ? '' : `: ${note}`}`
}

/** Describes each group on one line, including any failure. Limits the total length. */
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

/** Lists the existing names. `of` starts the sentence, such as `The groups`. */
export const listNames = (of: string, names: readonly string[]): string => {
  if (names.length === 0) return `${of}: none.`
  const listed = names.slice(0, MAX_NAMES).map(name => JSON.stringify(name))
  const more = names.length - listed.length
  return `${of}: ${listed.join(', ')}${more > 0 ? ` and ${more} more` : ''}.`
}
