import type { MaskedRequest } from '../../history/execution-record.ts'
import { MAX_SECRET_BYTES } from '../../lib/kernel/limits.ts'
import type { Masker } from '../mask/masking.ts'

/** Longest request body kept in history; the size of the whole is kept beside it. */
const BODY_CHARACTERS = 16 * 1_024
const URL_CHARACTERS = 4 * 1_024
const HEADER_CHARACTERS = 1_024
/** Of all headers, names included; the rest is left out, with an entry that says so. */
const ALL_HEADERS_CHARACTERS = 16 * 1_024

/** Characters of the longest way that a secret is written: so many times what it is plainly. */
const LONGEST_FORM = 16 * MAX_SECRET_BYTES
const MASKED_CHARACTERS = BODY_CHARACTERS + LONGEST_FORM

/**
 * A text with its secrets hidden, or, as to look for them in all of a long one takes seconds, at least as much of its
 * beginning as history keeps. What a secret may take at the end of that is left out: one that was cut is not found.
 */
export const maskBeginning = (text: string, masker: Masker): string =>
  text.length <= MASKED_CHARACTERS || masker.isEmpty
    ? masker.text(text)
    : `${masker.text(text.slice(0, MASKED_CHARACTERS)).slice(0, -LONGEST_FORM)}…`

/** Copied, as a slice would keep the whole text in memory. */
const shorten = (text: string, max: number): string =>
  text.length <= max ? text : `${Buffer.from(text.slice(0, max), 'utf16le').toString('utf16le')}…`

const shortenHeaders = (headers: MaskedRequest['headers']): MaskedRequest['headers'] => {
  const kept: (readonly [name: string, value: string])[] = []
  let length = 0
  for (const [name, value] of headers) {
    const header = [shorten(name, HEADER_CHARACTERS), shorten(value, HEADER_CHARACTERS)] as const
    length += header[0].length + header[1].length
    if (length > ALL_HEADERS_CHARACTERS) return [...kept, ['…', '']]
    kept.push(header)
  }
  return kept
}

/** A request as history keeps it: what was cut ends in `…`. */
export const shortenRequest = ({ method, url, headers, body }: MaskedRequest): MaskedRequest => ({
  method,
  url: shorten(url, URL_CHARACTERS),
  headers: shortenHeaders(headers),
  body: body === undefined ? undefined : shorten(body, BODY_CHARACTERS),
})
