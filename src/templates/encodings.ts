import type { JsonValue } from '../lib/kernel/json.ts'
import type { Hole } from './plan.ts'
import type { ParameterType } from './template.ts'

/** A value as text: a string is itself, except that of a `json` parameter, which is JSON like all its values. */
const textOf =
  (type: ParameterType) =>
  (value: JsonValue): string =>
    typeof value === 'string' && type !== 'json' ? value : JSON.stringify(value)

/** UTF-8 knows no lone surrogates: each becomes U+FFFD, as in WHATWG URL, instead of an exception. */
const percentEncode = (text: string): string => encodeURIComponent(text.toWellFormed())

const NEVER_REFUSES = 'cannot stand here'

/** Empty, `.` and `..` would change how many segments the path has; anything else is encoded to stay one. */
export const pathHole = (type: ParameterType): Hole => {
  const asText = textOf(type)
  return {
    kind: 'path',
    encode: value => {
      const text = asText(value)
      return text === '' || text === '.' || text === '..' ? undefined : percentEncode(text)
    },
    refusal: 'may not be empty, "." or "..": it stands in the path of the URL',
    whenMissing: undefined,
  }
}

export const queryHole = (type: ParameterType): Hole => {
  const asText = textOf(type)
  return {
    kind: 'query',
    encode: value => {
      const encoded = percentEncode(asText(value))
      // WHATWG URL encodes it in a query; doing so here keeps the text what `new URL` makes of it.
      return encoded.includes("'") ? encoded.replaceAll("'", '%27') : encoded
    },
    refusal: NEVER_REFUSES,
    whenMissing: undefined,
  }
}

export const formHole = (type: ParameterType): Hole => {
  const asText = textOf(type)
  return { kind: 'form', encode: value => percentEncode(asText(value)), refusal: NEVER_REFUSES, whenMissing: undefined }
}

/** A label of a host name (RFC 1123 §2.1), which WHATWG URL then writes in lower case. */
const LABEL = /^[A-Za-z0-9](?:[A-Za-z0-9-]{0,61}[A-Za-z0-9])?$/

export const hostHole = (type: ParameterType): Hole => {
  const asText = textOf(type)
  return {
    kind: 'host',
    encode: value => {
      const text = asText(value)
      return LABEL.test(text) ? text.toLowerCase() : undefined
    },
    refusal: 'must be one label of a host name: letters, digits and inner hyphens, at most 63',
    whenMissing: undefined,
  }
}

/** What no header value may hold (RFC 9110 §5.5): control characters other than tab, and beyond Latin-1. */
export const FORBIDDEN_IN_HEADER = /[^\t\x20-\x7e\x80-\xff]/

export const headerHole = (type: ParameterType): Hole => {
  const asText = textOf(type)
  return {
    kind: 'header',
    encode: value => {
      const text = asText(value)
      return FORBIDDEN_IN_HEADER.test(text) ? undefined : text
    },
    refusal: 'may hold neither line breaks, control characters nor characters beyond Latin-1: it stands in a header',
    whenMissing: undefined,
  }
}

/** JSON.stringify escapes lone surrogates too, so the text is well-formed whatever the value holds. */
export const jsonHole: Hole = {
  kind: 'json',
  encode: value => JSON.stringify(value),
  refusal: NEVER_REFUSES,
  whenMissing: undefined,
}

export const jsonStringHole = (type: ParameterType): Hole => {
  const asText = textOf(type)
  return {
    kind: 'json-string',
    encode: value => JSON.stringify(asText(value)).slice(1, -1),
    refusal: NEVER_REFUSES,
    whenMissing: '',
  }
}

export const textHole = (type: ParameterType): Hole => {
  const asText = textOf(type)
  return { kind: 'text', encode: value => asText(value).toWellFormed(), refusal: NEVER_REFUSES, whenMissing: '' }
}
