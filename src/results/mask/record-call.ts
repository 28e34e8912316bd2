import type { MaskedRequest } from '../../history/execution-record.ts'
import { MAX_SECRET_BYTES } from '../../lib/kernel/limits.ts'
import type { Masker } from './masking.ts'

/** Maximum characters of a request body in the history, which also records the size of the whole. */
const BODY_CHARACTERS = 16 * 1_024
const URL_CHARACTERS = 4 * 1_024
const HEADER_CHARACTERS = 1_024
/** Maximum characters of all headers, including names. The rest is replaced by one entry `…`. */
const ALL_HEADERS_CHARACTERS = 16 * 1_024

/** Maximum characters of an encoded secret: the encodings multiply its length. */
const LONGEST_FORM = 16 * MAX_SECRET_BYTES
const MASKED_CHARACTERS = BODY_CHARACTERS + LONGEST_FORM

/**
 * Masks a text. Masking all of a long text would take seconds, so only as much as the history stores is masked, and
 * LONGEST_FORM more, which is then dropped: a secret that is cut at the end is not recognized.
 */
export const maskBeginning = (text: string, masker: Masker): string =>
  text.length <= MASKED_CHARACTERS || masker.isEmpty
    ? masker.text(text)
    : `${masker.text(text.slice(0, MASKED_CHARACTERS)).slice(0, -LONGEST_FORM)}…`

/** Copies the beginning, because a slice would keep the whole text in memory. */
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

/** Returns a request as the history stores it. Parts that are cut end in `…`. */
export const shortenRequest = ({ method, url, headers, body }: MaskedRequest): MaskedRequest => ({
  method,
  url: shorten(url, URL_CHARACTERS),
  headers: shortenHeaders(headers),
  body: body === undefined ? undefined : shorten(body, BODY_CHARACTERS),
})
