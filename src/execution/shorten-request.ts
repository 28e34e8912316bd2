import type { MaskedRequest } from '../history/index.ts'
import { MAX_SECRET_BYTES } from '../kernel/index.ts'

/** Longest request body kept in history; the size of the whole is kept beside it. */
const BODY_CHARACTERS = 16 * 1_024
const URL_CHARACTERS = 4 * 1_024
const HEADER_CHARACTERS = 1_024
/** Of all headers, names included; the rest is left out, with an entry that says so. */
const ALL_HEADERS_CHARACTERS = 16 * 1_024

/** No secret is longer than so many times what it is plainly, however it is written. */
const LONGEST_FORM_TIMES = 16
const MASKED_CHARACTERS = BODY_CHARACTERS + LONGEST_FORM_TIMES * MAX_SECRET_BYTES

/** As much of a body as decides what history keeps of it: to look for secrets in all of it takes seconds. */
export const beforeMasking = (body: string): string =>
  body.length <= MASKED_CHARACTERS ? body : body.slice(0, MASKED_CHARACTERS)

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
