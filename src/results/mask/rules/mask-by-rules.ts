import { MASK } from '../../../lib/kernel/mask.ts'
import { maskText } from '../mask-text.ts'
import { scanJson } from './json-tokens.ts'
import type { FindMatches } from './rule-search.ts'

/** JSON within strings of JSON is masked to this depth. */
const MAX_NESTED = 4

/** Binary data in a string, as MCP writes it. */
const BINARY_NAMES: ReadonlySet<string | undefined> = new Set(['data', 'blob'])
const BASE64 = /^[A-Za-z0-9+/_-]+={0,2}$/
/** Shorter strings may be a number that happens to be in the alphabet of Base64. */
const MIN_BASE64_CHARACTERS = 256

const isBinary = (text: string, name: string | undefined): boolean =>
  text.length >= MIN_BASE64_CHARACTERS && BINARY_NAMES.has(name) && BASE64.test(text)

/** Undoes the escapes of a string of JSON. Returns undefined if they are invalid. */
const withoutEscapes = (inside: string): string | undefined => {
  if (!inside.includes('\\')) return inside
  try {
    return String(JSON.parse(`"${inside}"`))
  } catch {
    return undefined
  }
}

const maskString = (inside: string, name: string | undefined, find: FindMatches, depth: number): string => {
  if (isBinary(inside, name)) return inside
  const text = withoutEscapes(inside)
  if (text === undefined) return maskText(inside, find(inside, name))
  const masked = depth < MAX_NESTED ? maskAtDepth(text, find, depth + 1, name) : maskText(text, find(text, name))
  return masked === text ? inside : JSON.stringify(masked).slice(1, -1)
}

const maskNumber = (digits: string, name: string | undefined, find: FindMatches): string =>
  find(digits, name).length > 0 ? `"${MASK}"` : digits

const maskAtDepth = (text: string, find: FindMatches, depth: number, ownName?: string): string => {
  if (!scanJson(text)) return maskText(text, find(text, ownName))
  const parts: string[] = []
  let at = 0
  scanJson(text, ({ start, end, isString, name: escaped }) => {
    const value = text.slice(start, end)
    const name = escaped === undefined ? undefined : withoutEscapes(escaped)
    const masked = isString ? maskString(value, name, find, depth) : maskNumber(value, name, find)
    if (masked === value) return
    parts.push(text.slice(at, start), masked)
    at = end
  })
  if (parts.length === 0) return text
  parts.push(text.slice(at))
  return parts.join('')
}

/**
 * Masks what the rules match. JSON stays JSON: each string is searched without its escapes, and a number becomes a
 * string. Returns the same text if nothing matches.
 */
export const maskByRules = (text: string, find: FindMatches): string => maskAtDepth(text, find, 0)
