import fc from 'fast-check'
import type { JsonValue } from '../../src/lib/kernel/json.ts'

/** Fragments that, without encoding, would break out of a URL, header, JSON, form or template. */
const FRAGMENTS = [
  '/',
  '//',
  '\\',
  '.',
  '..',
  '../',
  '%2e',
  '%2F',
  '%',
  '%4',
  '@',
  ':',
  '#',
  '?',
  '&',
  '=',
  ';',
  '+',
  ' ',
  '\t',
  '"',
  "'",
  '`',
  '\\"',
  '\\u0022',
  ',',
  '"}',
  ',"x":1',
  '{',
  '}',
  '[',
  ']',
  '{{',
  '}}',
  '{{id}}',
  '{{json:x=1}}',
  '\\{{',
  '\r\n',
  '\n',
  '\r',
  '\0',
  '\x1b',
  '\x7f',
  '\u2028',
  '\ufeff',
  '\ud800',
  '\udc00',
  'é',
  '€',
  '😀',
  '<',
  '>',
  '|',
  '^',
  'null',
  'true',
  '0',
  '__proto__',
  'https://evil.example',
  'evil.example',
  'a',
] as const

/** Random text, combined with these fragments. Includes lone surrogates. */
export const nastyText = fc.oneof(
  fc.array(fc.constantFrom(...FRAGMENTS), { maxLength: 5 }).map(parts => parts.join('')),
  fc.string({ unit: 'binary', maxLength: 12 }),
  fc.string({ unit: 'grapheme', maxLength: 12 }),
)

/** Returns a value after a round trip through JSON, which removes -0 and inherited keys. */
export const throughJson = (value: unknown): JsonValue => JSON.parse(JSON.stringify(value))

/** Any JSON that has such strings as values and keys. */
export const nastyJson: fc.Arbitrary<JsonValue> = fc
  .oneof(
    fc.jsonValue({ maxDepth: 3, stringUnit: 'binary' }),
    nastyText,
    fc.dictionary(nastyText, nastyText, { maxKeys: 3 }),
  )
  .map(throughJson)
