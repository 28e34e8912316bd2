import type { JsonObject, JsonValue } from '../kernel/json.ts'

declare global {
  // Available in Node since version 22, but not yet declared in TypeScript's library.
  interface JSON {
    parse(text: string, reviver: (key: string, value: unknown, context: { source?: string }) => unknown): JsonValue
    /** Returns a frozen object whose member `rawJSON` JSON.stringify writes as is. */
    rawJSON(text: string): JsonObject
    isRawJSON(value: unknown): boolean
  }
}

/**
 * Matches numbers that a double may be unable to represent exactly: 16 digits or more, or an exponent. A match inside a
 * string only slows down parsing.
 */
const DOUBTFUL = /(?:^|[:,[\s])(-?\d+(?:\.\d+)?[eE][-+]?\d+|-?\d[\d.]{15,})/g
const NUMBER = /^-?(\d+)(?:\.(\d+))?(?:[eE]([-+]?\d+))?$/

/** Uses a loop, because a regular expression would restart at every zero of a long number. */
const withoutLastZeros = (digits: string): string => {
  let end = digits.length
  while (digits.charCodeAt(end - 1) === 0x30) end--
  return digits.slice(0, end)
}

/** Returns the significant digits and the exponent, which are the same for every notation of a number. */
const normalize = (text: string): string | undefined => {
  const [, whole, fraction = '', exponent = '0'] = NUMBER.exec(text) ?? []
  if (whole === undefined) return undefined
  const digits = `${whole}${fraction}`.replace(/^0+/, '')
  const kept = withoutLastZeros(digits)
  if (kept === '') return '0'
  return `${kept}e${Number(exponent) - fraction.length + digits.length - kept.length}`
}

const isHeld = (source: string, value: number): boolean =>
  Number.isFinite(value) && (String(value) === source || normalize(source) === normalize(String(value)))

const holdsInexact = (text: string): boolean => {
  for (const [, source = ''] of text.matchAll(DOUBTFUL)) if (!isHeld(source, Number(source))) return true
  return false
}

/**
 * Parses JSON, but keeps the digits of numbers that a double cannot represent: they become objects that JSON.stringify
 * writes unchanged (`JSON.rawJSON`). Code that walks a document must call `findExactNumber` before it treats a value as an
 * object. Recursive if there are such numbers, so the text must not be deeply nested. Throws a SyntaxError.
 */
export const parseExactly = (text: string): { value: JsonValue; hasExactNumbers: boolean } => {
  const value: JsonValue = JSON.parse(text)
  if (!holdsInexact(text)) return { value, hasExactNumbers: false }
  let hasExactNumbers = false
  const exact = JSON.parse(text, (_key, each, { source }) => {
    if (typeof each !== 'number' || source === undefined || isHeld(source, each)) return each
    hasExactNumbers = true
    return JSON.rawJSON(source)
  })
  return { value: exact, hasExactNumbers }
}

/** Returns the digits of a number that is represented by an object, or undefined for other values. */
export const findExactNumber = (value: JsonValue): string | undefined => {
  if (typeof value !== 'object' || value === null || Array.isArray(value) || !JSON.isRawJSON(value)) return undefined
  return typeof value.rawJSON === 'string' ? value.rawJSON : undefined
}
