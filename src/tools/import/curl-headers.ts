import type { GivenContentType } from './curl-body.ts'
import type { GivenOption } from './curl-options.ts'
import type { Pair, RequestAuth } from './imported-request.ts'

export type GivenHeaders = {
  /** Headers that are sent, in order. */
  headers: readonly Pair[]
  /** Lower-case names that the command decides on. curl adds no header of its own with such a name. */
  names: ReadonlySet<string>
}

/** A header line: with a value, `Name;` for an empty value, or `Name:` to send none. */
const readLine = (line: string): Pair & { isSent: boolean; isKnown: boolean } => {
  const colon = line.indexOf(':')
  const end = colon === -1 ? line.indexOf(';') : colon
  const name = line.slice(0, Math.max(end, 0)).trim()
  const value = line.slice(end + 1).trim()
  const isKnown = name !== '' && (colon !== -1 || value === '')
  return { name, value, isKnown, isSent: isKnown && (colon === -1 || value !== '') }
}

export const readHeaders = (options: readonly GivenOption[], note: (sentence: string) => void): GivenHeaders => {
  const headers: Pair[] = []
  const names = new Set<string>()
  for (const { name: option, value: text } of options) {
    if (option !== 'header') continue
    if (text.startsWith('@')) {
      note('Headers in a file are not read and were left out.')
      continue
    }
    const { name, value, isSent, isKnown } = readLine(text)
    if (!isKnown) note('A header without a colon was left out.')
    else names.add(name.toLowerCase())
    if (isSent) headers.push({ name, value })
  }
  return { headers, names }
}

const isNamed =
  (name: string) =>
  (pair: Pair): boolean =>
    pair.name.toLowerCase() === name

/** Returns the headers without those of a name, and the values of these. */
export const takeHeaders = (headers: readonly Pair[], name: string) => ({
  rest: headers.filter(header => !isNamed(name)(header)),
  values: headers.filter(isNamed(name)).map(({ value }) => value),
})

export const contentTypeOf = ({ headers, names }: GivenHeaders): GivenContentType => {
  const [value] = takeHeaders(headers, 'content-type').values
  if (value !== undefined) return { value }
  return names.has('content-type') ? 'removed' : 'default'
}

/** Parses a list of cookies. Undefined if a piece of it has no name, so that it could not be written again. */
export const parseCookies = (text: string): readonly Pair[] | undefined => {
  const cookies: Pair[] = []
  for (const piece of text.split(';')) {
    const trimmed = piece.trim()
    const equals = trimmed.indexOf('=')
    if (trimmed === '') continue
    if (equals < 1) return undefined
    cookies.push({ name: trimmed.slice(0, equals), value: trimmed.slice(equals + 1) })
  }
  return cookies
}

const utf8 = new TextDecoder('utf-8', { fatal: true })

const parseBasic = (encoded: string): RequestAuth | undefined => {
  const bytes = Buffer.from(encoded, 'base64')
  if (bytes.toString('base64') !== encoded || bytes.includes(0)) return undefined
  try {
    const text = utf8.decode(bytes)
    const colon = text.indexOf(':')
    if (colon === -1 || Buffer.from(text).compare(bytes) !== 0) return undefined
    return { kind: 'basic', user: text.slice(0, colon), password: text.slice(colon + 1) }
  } catch {
    return undefined
  }
}

/** Parses the value of an Authorization header. Undefined if it could not be written again in the same way. */
export const parseAuthorization = (value: string): RequestAuth | undefined => {
  const [scheme, credentials, more] = value.split(' ', 3)
  if (credentials === undefined || credentials === '' || more !== undefined) return undefined
  if (scheme === 'Bearer') return { kind: 'bearer', token: credentials }
  return scheme === 'Basic' ? parseBasic(credentials) : undefined
}

/** Splits the value of `-u`. */
export const parseUser = (text: string): { user: string; password: string } => {
  const colon = text.indexOf(':')
  return colon === -1 ? { user: text, password: '' } : { user: text.slice(0, colon), password: text.slice(colon + 1) }
}
