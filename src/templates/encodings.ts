import type { JsonValue } from '../lib/kernel/json.ts'
import type { Hole } from './plan.ts'
import type { ParameterType } from './template.ts'

/** Returns a value as text. Strings stay as they are, except for `json` parameters, whose strings become JSON. */
const textOf = (type: ParameterType, value: JsonValue): string =>
  typeof value === 'string' && type !== 'json' ? value : JSON.stringify(value)

/** Replaces lone surrogates with U+FFFD, as WHATWG URL does, because encodeURIComponent would throw. */
const percentEncode = (text: string): string => encodeURIComponent(text.toWellFormed())

const NEVER_REFUSES = 'is not allowed here'

/**
 * Creates a hole that encodes values as text. `encode` returns undefined for a value that is not allowed in that
 * position.
 */
const holeOfText =
  (
    kind: Hole['kind'],
    encode: (text: string) => string | undefined,
    { refusal = NEVER_REFUSES, whenMissing }: { refusal?: string; whenMissing?: '' } = {},
  ) =>
  (type: ParameterType): Hole => ({ kind, encode: value => encode(textOf(type, value)), refusal, whenMissing })

/** Encodes a path segment. Rejects an empty value, `.` and `..`, because they would change the number of segments. */
export const pathHole = holeOfText(
  'path',
  text => (text === '' || text === '.' || text === '..' ? undefined : percentEncode(text)),
  { refusal: 'must not be empty, "." or ".." in the path of the URL' },
)

export const queryHole = holeOfText('query', text => {
  const encoded = percentEncode(text)
  // WHATWG URL encodes this character in a query. Encoding it here keeps the text stable.
  return encoded.includes("'") ? encoded.replaceAll("'", '%27') : encoded
})

export const formHole = holeOfText('form', percentEncode)

/** Matches a label of a host name (RFC 1123 §2.1). */
const LABEL = /^[A-Za-z0-9](?:[A-Za-z0-9-]{0,61}[A-Za-z0-9])?$/

export const hostHole = holeOfText('host', text => (LABEL.test(text) ? text.toLowerCase() : undefined), {
  refusal: 'must be one label of a host name: letters, digits and inner hyphens, at most 63',
})

/** Characters that header values cannot contain (RFC 9110 §5.5): control characters except tab, and non-Latin-1. */
export const FORBIDDEN_IN_HEADER = /[^\t\x20-\x7e\x80-\xff]/

export const headerHole = holeOfText('header', text => (FORBIDDEN_IN_HEADER.test(text) ? undefined : text), {
  refusal:
    'must not contain line breaks, control characters or characters beyond Latin-1, because it is sent in a header',
})

/** A hole for a JSON value. JSON.stringify escapes lone surrogates, so the text is always well-formed. */
export const jsonHole: Hole = {
  kind: 'json',
  encode: value => JSON.stringify(value),
  refusal: NEVER_REFUSES,
  whenMissing: undefined,
}

export const jsonStringHole = holeOfText('json-string', text => JSON.stringify(text).slice(1, -1), { whenMissing: '' })

export const textHole = holeOfText('text', text => text.toWellFormed(), { whenMissing: '' })
