import { isLoopback } from '../../lib/kernel/loopback.ts'
import type { Word } from './curl-words.ts'
import { UnreadableText } from './text-fault.ts'
import { fillMarks, hasVariables, mapLiterals } from './variable-marks.ts'

export type CurlUrl = {
  /** Absolute, without credentials and fragment, unless it starts with a variable. */
  url: string
  credentials: { user: string; password: string } | undefined
  notes: readonly string[]
}

const SCHEME = /^([A-Za-z][A-Za-z0-9+.-]{0,30}):\/\//

/** Decodes percent escapes. Those that are not UTF-8 stay. */
export const percentDecode = (text: string): string =>
  text.replaceAll(/(?:%[0-9A-Fa-f]{2})+/g, run => {
    try {
      // A decoded NUL could not be told from the mark of a variable.
      return decodeURIComponent(run).replaceAll('\0', '%00')
    } catch {
      return run
    }
  })

/** Decodes a name or value of a query or form, and keeps the variables. */
export const decodeFormText = (text: string): string =>
  mapLiterals(text, literal => percentDecode(literal.replaceAll('+', ' ')))

const endOfAuthority = (text: string): number => {
  const end = text.search(/[/?#]/)
  return end === -1 ? text.length : end
}

/** Removes `.` and `..` from a path, as curl does (RFC 3986 §5.2.4). */
const withoutDots = (path: string): string => {
  if (!/(?:^|\/)\.\.?(?:\/|$)/.test(path)) return path
  const segments: string[] = []
  const given = path.split('/').slice(1)
  for (const [index, segment] of given.entries()) {
    const isLast = index === given.length - 1
    if (segment === '..') segments.pop()
    else if (segment !== '.') segments.push(segment)
    if (isLast && (segment === '.' || segment === '..')) segments.push('')
  }
  return `/${segments.join('/')}`
}

type UrlParts = { origin: string; path: string; query: string | undefined }

const splitRest = (text: string): Omit<UrlParts, 'origin'> => {
  const [beforeFragment = ''] = text.split('#', 1)
  const question = beforeFragment.indexOf('?')
  return question === -1
    ? { path: beforeFragment, query: undefined }
    : { path: beforeFragment.slice(0, question), query: beforeFragment.slice(question + 1) }
}

const hostOf = (authority: string): URL | null => URL.parse(`http://${fillMarks(authority, () => 'x')}/`)

/** curl assumes http for a URL without a scheme. We assume https, except on this machine: hardly an API has only http. */
const schemeFor = (authority: string): { scheme: string; notes: readonly string[] } => {
  const host = hostOf(authority)
  if (host !== null && isLoopback(host)) return { scheme: 'http', notes: [] }
  return { scheme: 'https', notes: ['The URL has no scheme: https was assumed, where curl would use http.'] }
}

const readCredentials = (authority: string) => {
  const at = authority.lastIndexOf('@')
  if (at === -1) return { host: authority, credentials: undefined }
  const info = authority.slice(0, at)
  const colon = info.indexOf(':')
  const decoded = (text: string): string => mapLiterals(text, percentDecode)
  const user = decoded(colon === -1 ? info : info.slice(0, colon))
  return {
    host: authority.slice(at + 1),
    credentials: { user, password: decoded(colon === -1 ? '' : info.slice(colon + 1)) },
  }
}

/** What curl would replace by several values: `[1-3]`, `[a-c:2]` and `{one,two}`. */
const GLOB = /\[(?:\d{1,20}-\d{1,20}|[A-Za-z]-[A-Za-z])(?::\d{1,9})?\]|\{[^{}]*\}/

/** A backslash keeps curl from replacing a bracket. Chrome writes one in front of each. */
const ESCAPED_BRACKET = /\\([[\]{}])/g

const globNotes = (text: string): readonly string[] =>
  GLOB.test(text.replaceAll(ESCAPED_BRACKET, ''))
    ? ['Braces and brackets in the URL were kept as they are. curl would replace them by values.']
    : []

const assertScheme = (scheme: string, offset: number): void => {
  if (/^https?$/i.test(scheme)) return
  throw new UnreadableText(
    `the URL has the scheme ${scheme.toLowerCase()}; only http and https can be imported`,
    offset,
  )
}

const assertHost = (host: string, offset: number): void => {
  if (host === '') throw new UnreadableText('the URL has no host', offset)
  if (hasVariables(host) || hostOf(host) !== null) return
  throw new UnreadableText('this is not a valid URL. Check the host and the port', offset)
}

export type UrlAdditions = {
  /** Encoded pairs to append to the query. */
  query: readonly string[]
  requestTarget: string | undefined
  isGlobOff: boolean
  isPathAsIs: boolean
  /** The name that curl appends to a URL that ends in a slash when it uploads a file. */
  uploadName: string | undefined
}

/** Reads the target that `--request-target` sends instead of path and query. */
const readTarget = (target: string, offset: number): Omit<UrlParts, 'origin'> => {
  if (target.startsWith('/')) return splitRest(target.replaceAll('#', '%23'))
  throw new UnreadableText('the request target does not start with /. Such requests cannot be imported', offset)
}

const extend = (parts: UrlParts, additions: UrlAdditions, offset: number): UrlParts => {
  const { query, requestTarget, isPathAsIs, uploadName } = additions
  if (requestTarget !== undefined) return { origin: parts.origin, ...readTarget(requestTarget, offset) }
  const path = isPathAsIs ? parts.path : withoutDots(parts.path)
  const ended = uploadName !== undefined && (path === '' || path.endsWith('/'))
  const given = parts.query === undefined || parts.query === '' ? [] : [parts.query.replace(/&$/, '')]
  return {
    origin: parts.origin,
    path: ended ? `${path === '' ? '/' : path}${encodeURIComponent(uploadName)}` : path,
    query: query.length === 0 ? parts.query : [...given, ...query].join('&'),
  }
}

const show = ({ origin, path, query }: UrlParts): string => origin + path + (query === undefined ? '' : `?${query}`)

/** Reads a URL as curl does. Throws `UnreadableText` if it is not one for http or https. */
export const readCurlUrl = ({ text, offset }: Word, additions: UrlAdditions): CurlUrl => {
  const notes = additions.isGlobOff ? [] : globNotes(text)
  const trimmed = (additions.isGlobOff ? text : text.replaceAll(ESCAPED_BRACKET, '$1')).trim()
  const scheme = SCHEME.exec(trimmed)?.[1]
  if (scheme !== undefined) assertScheme(scheme, offset)
  if (scheme === undefined && hasVariables(trimmed.slice(0, 1))) {
    const end = trimmed.indexOf('\0', 1) + 1
    const parts = { origin: trimmed.slice(0, end), ...splitRest(trimmed.slice(end)) }
    const url = show(extend(parts, additions, offset))
    return { url, credentials: undefined, notes }
  }
  const rest = scheme === undefined ? trimmed : trimmed.slice(scheme.length + 3)
  const end = endOfAuthority(rest)
  const { host, credentials } = readCredentials(rest.slice(0, end))
  assertHost(host, offset)
  const assumed = scheme === undefined ? schemeFor(host) : { scheme: scheme.toLowerCase(), notes: [] }
  const parts = { origin: `${assumed.scheme}://${host}`, ...splitRest(rest.slice(end)) }
  const url = show(extend(parts, additions, offset))
  return { url, credentials, notes: [...notes, ...assumed.notes] }
}
