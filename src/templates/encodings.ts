import type { JsonValue } from '../lib/kernel/json.ts'
import { MAX_XML_DOCUMENT_CHARS } from './limits.ts'
import type { Hole } from './plan.ts'
import type { ParameterType } from './template.ts'
import { isLikeUtf8, parseXml } from './xml-parser.ts'

/** Returns a value as text. Strings stay as they are, except for `json` parameters, whose strings become JSON. */
const textOf = (type: ParameterType, value: JsonValue): string =>
  typeof value === 'string' && type !== 'json' ? value : JSON.stringify(value)

/** Replaces lone surrogates with U+FFFD, as WHATWG URL does, because encodeURIComponent would throw. */
export const percentEncode = (text: string): string => encodeURIComponent(text.toWellFormed())

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

export const encodeInQuery = (text: string): string => {
  const encoded = percentEncode(text)
  // WHATWG URL encodes this character in a query. Encoding it here keeps the text stable.
  return encoded.includes("'") ? encoded.replaceAll("'", '%27') : encoded
}

export const queryHole = holeOfText('query', encodeInQuery)

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

const XML_ESCAPES: Readonly<Record<string, string>> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
  "'": '&#39;',
  '\t': '&#9;',
  '\n': '&#10;',
  '\r': '&#13;',
}

/** Characters that XML 1.0 cannot represent, not even as a reference (§2.2). */
const FORBIDDEN_IN_XML = /[^\t\n\r\x20-\ud7ff\ue000-\ufffd\u{10000}-\u{10ffff}]/u

const xmlHole = (special: RegExp) =>
  holeOfText(
    'xml',
    text => {
      const sound = text.toWellFormed()
      if (FORBIDDEN_IN_XML.test(sound)) return undefined
      return sound.replaceAll(special, char => XML_ESCAPES[char] ?? char)
    },
    { refusal: 'must not contain control characters, because XML cannot represent them', whenMissing: '' },
  )

/** A parser reads an unescaped CR as a line feed (XML 1.0 §2.11). */
export const xmlTextHole = xmlHole(/[&<>"'\r]/g)

/** A parser reads unescaped tabs and line breaks in attributes as spaces (XML 1.0 §3.3.3). */
export const xmlAttributeHole = xmlHole(/[&<>"'\t\n\r]/g)

/**
 * Rejects a DOCTYPE, with which the API could be made to read files and URLs, and encodings in which text that is
 * harmless here could be a DOCTYPE.
 */
const isXmlDocument = (text: string): boolean => {
  if (text.length > MAX_XML_DOCUMENT_CHARS) return false
  let hasDoctype = false
  const parsed = parseXml(text, piece => {
    hasDoctype ||= piece === 'doctype'
  })
  return parsed.ok && !hasDoctype && isLikeUtf8(parsed.value.encoding ?? 'utf-8')
}

export const xmlDocumentHole = holeOfText('xml-document', text => (isXmlDocument(text) ? text : undefined), {
  refusal: `must be a well-formed XML document in UTF-8 of at most ${MAX_XML_DOCUMENT_CHARS} characters without a DOCTYPE, because it is sent unchanged as the whole body`,
})

export const NOT_THE_BOUNDARY = 'must not contain the boundary of the multipart body, which would start another part'

/** Returns the text, unless it contains a boundary. */
export const withoutBoundary = (text: string, boundaries: readonly string[]): string | undefined =>
  boundaries.some(boundary => text.includes(boundary)) ? undefined : text.toWellFormed()

/** A hole in the content of a part. */
export const multipartHole = (boundaries: readonly string[]) =>
  holeOfText('multipart', text => withoutBoundary(text, boundaries), {
    refusal: NOT_THE_BOUNDARY,
    whenMissing: '',
  })

/** Characters that would end a header of a part, or the parameter of the header that contains the value. */
const FORBIDDEN_IN_PART_HEADER = {
  header: /(?!\t)\p{Cc}/u,
  quoted: /(?!\t)\p{Cc}|["\\]/u,
  parameter: /(?!\t)\p{Cc}|["\\;]/u,
}

/** A hole in a header of a part: its whole value, inside quotes, or anywhere else in its value. */
export const partHeaderHole = (spot: keyof typeof FORBIDDEN_IN_PART_HEADER, boundaries: readonly string[]) =>
  holeOfText(
    'multipart',
    text => (FORBIDDEN_IN_PART_HEADER[spot].test(text) ? undefined : withoutBoundary(text, boundaries)),
    {
      refusal: `must not contain line breaks, control characters${spot === 'header' ? '' : ', ", \\'}${spot === 'parameter' ? ', ;' : ''} or the boundary, because it is sent in a header of a part`,
      whenMissing: '',
    },
  )

/** Everything but a cookie-octet (RFC 6265 §4.1.1). */
const NOT_COOKIE_OCTET = /[^!#-+\--:<-[\]-~]/gu

export const cookieHole = holeOfText('cookie', text =>
  text.toWellFormed().replaceAll(NOT_COOKIE_OCTET, char => encodeURIComponent(char)),
)
