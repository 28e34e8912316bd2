import type { PostmanPair, PostmanUrl, PostmanVariable } from './collection.schema.ts'

/** The parts of a URL, as written: with `{{variables}}`, and percent-encoded or not. */
export type UrlText = {
  /** Scheme, host and port, without the scheme if the URL has none. */
  origin: string
  /** Undefined if the URL ends after the host. */
  path: readonly string[] | undefined
  query: readonly PostmanPair[]
  /** Values of segments such as `:id`. */
  variables: readonly PostmanVariable[]
}

/** A variable counts as one character of a part, whatever is between its braces. */
const RAW =
  /^((?:(?:[a-z][a-z0-9+.-]*|\{\{[^{}]*\}\}):\/\/)?(?:\{\{[^{}]*\}\}|[^/?#])*)((?:\{\{[^{}]*\}\}|[^?#])*)(?:\?((?:\{\{[^{}]*\}\}|[^#])*))?/is

const readPair = (pair: string): PostmanPair => {
  const equals = pair.indexOf('=')
  const [key, value] = equals === -1 ? [pair, undefined] : [pair.slice(0, equals), pair.slice(equals + 1)]
  return { key, value, disabled: false, description: '' }
}

const MAX_RAW_CHARS = 8_192

/** Reads a URL that is only a text. */
const readRaw = (raw: string): Omit<UrlText, 'variables'> => {
  const [, origin = '', path = '', query] = RAW.exec(raw.trim().slice(0, MAX_RAW_CHARS)) ?? []
  return {
    origin,
    path: path === '' ? undefined : path.split('/').slice(1),
    query: query === undefined || query === '' ? [] : query.split('&').map(readPair),
  }
}

const listOf = (parts: string | string[] | null | undefined, separator: string): string[] =>
  typeof parts === 'string' ? parts.split(separator) : (parts ?? [])

/** Returns the parts of a URL: from its object, or else from its text. */
export const readUrl = (url: PostmanUrl): UrlText => {
  const host = listOf(url.host, '.').join('.')
  if (host === '') {
    const read = readRaw(url.raw ?? '')
    return { ...read, query: url.query.length > 0 ? url.query : read.query, variables: url.variable }
  }
  const scheme = url.protocol ? `${url.protocol.replace(/:?\/*$/, '')}://` : ''
  const port = url.port === undefined || url.port === '' ? '' : `:${url.port}`
  // Generators of 2.0 put several segments into one, as in `orders/:id`.
  const path = listOf(url.path, '/').join('/').replace(/^\//, '').split('/')
  const isWritten = /^[a-z][a-z0-9+.-]*:\/\//i.test(host)
  return {
    origin: (isWritten ? '' : scheme) + host + port,
    path: url.path === undefined || url.path === null ? undefined : path,
    query: url.query,
    variables: url.variable,
  }
}
