import { TOOL_NAME } from '../lib/kernel/names.ts'

/**
 * Returns the name that a typed text becomes: `get_order` for "Get order". A valid name stays as it is, and so does a
 * text of which nothing would be left.
 */
export const toToolName = (typed: string): string => {
  const text = typed.trim()
  if (TOOL_NAME.test(text)) return text
  const words = text
    .normalize('NFKD')
    .replaceAll(/\p{M}/gu, '')
    .replaceAll(/([a-z0-9])([A-Z])/g, '$1_$2')
    .toLowerCase()
    .split(/[^a-z0-9]+/)
    .filter(word => word !== '')
  return words.length === 0 ? text : words.join('_').slice(0, 64)
}

/** Maximum length of an MCP tool name (see TOOL_NAME). */
const MAX_NAME_CHARACTERS = 64

/** Returns the name unchanged if it is not taken, or else with the next free number appended, such as `track_2`. */
export const uniqueToolName = (name: string, taken: ReadonlySet<string>): string => {
  let unique = name
  for (let number = 2; taken.has(unique); number++) {
    const ending = `_${number}`
    unique = `${name.slice(0, MAX_NAME_CHARACTERS - ending.length)}${ending}`
  }
  return unique
}
