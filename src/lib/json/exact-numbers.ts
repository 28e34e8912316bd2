import type { JsonObject, JsonValue } from '../kernel/json.ts'

declare global {
  // In Node since 22, and not yet among the types of the language.
  interface JSON {
    parse(text: string, reviver: (key: string, value: unknown, context: { source?: string }) => unknown): JsonValue
    /** A frozen object with the member `rawJSON` that is written as the text it was made of. */
    rawJSON(text: string): JsonObject
    isRawJSON(value: unknown): boolean
  }
}

/**
 * Numbers that a double may not hold: 16 digits or more, or an exponent. Where a string of the text holds such, all of
 * it is read the slow way for nothing; so much is rare.
 */
const DOUBTFUL = /(?:^|[:,[\s])(-?\d+(?:\.\d+)?[eE][-+]?\d+|-?\d[\d.]{15,})/g
const NUMBER = /^-?(\d+)(?:\.(\d+))?(?:[eE]([-+]?\d+))?$/

/** A loop, for an expression would begin anew at every zero of a long number. */
const withoutLastZeros = (digits: string): string => {
  let end = digits.length
  while (digits.charCodeAt(end - 1) === 0x30) end--
  return digits.slice(0, end)
}

/** Digits without zeros around them, and where the point stands: the same for every way to write one number. */
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
 * As JSON.parse, but a number that a double does not hold keeps its digits: it becomes an object that JSON.stringify
 * writes as it was (`JSON.rawJSON`). Who walks over a document asks `findExactNumber` before it takes an object for one.
 * Recursive where there are such numbers: the text may not be nested deep. Throws a SyntaxError.
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

/** The digits of a number that a double does not hold, which a document keeps as an object; undefined of all else. */
export const findExactNumber = (value: JsonValue): string | undefined => {
  if (typeof value !== 'object' || value === null || Array.isArray(value) || !JSON.isRawJSON(value)) return undefined
  return typeof value.rawJSON === 'string' ? value.rawJSON : undefined
}
