import { MAX_BODY_TEMPLATE_CHARS } from '../../templates/limits.ts'
import { scanTemplate } from '../../templates/scan.ts'
import { secretRuleOf } from '../../tools/secret-parameters.ts'
import { maskPlaceholders } from './mask-placeholders.ts'
import { headersIn, withHeader, withoutHeaders } from './template-headers.ts'

type Texts = { url: string; headers: string; body: string }

/** Ways to authenticate that the editor can write into a request. */
export const AUTH_KINDS = ['none', 'bearer', 'basic', 'header', 'query'] as const
export type AuthKind = (typeof AUTH_KINDS)[number]

/** How a request authenticates. `name` is that of the header or the query parameter. `other` is another scheme. */
export type FoundAuth = { kind: AuthKind | 'other'; name: string; value: string }

const NO_AUTH: FoundAuth = { kind: 'none', name: '', value: '' }

type Pair = { text: string; name: string }

/** Splits a URL at its query. Ignores `?`, `&` and `#` within placeholders. */
const splitQuery = (url: string): { before: string; pairs: readonly Pair[]; after: string } => {
  const masked = maskPlaceholders(url)
  const hash = masked.indexOf('#')
  const end = hash === -1 ? url.length : hash
  const mark = masked.slice(0, end).indexOf('?')
  if (mark === -1) return { before: url.slice(0, end), pairs: [], after: url.slice(end) }
  const pairs: Pair[] = []
  let from = mark + 1
  for (const piece of masked.slice(from, end).split('&')) {
    const text = url.slice(from, from + piece.length)
    if (text !== '') pairs.push({ text, name: text.split('=', 1)[0] ?? '' })
    from += piece.length + 1
  }
  return { before: url.slice(0, mark), pairs, after: url.slice(end) }
}

const joinQuery = ({ before, pairs, after }: ReturnType<typeof splitQuery>): string =>
  `${before}${pairs.length === 0 ? '' : `?${pairs.map(({ text }) => text).join('&')}`}${after}`

const isAuthorization = (name: string): boolean => name.toLowerCase() === 'authorization'
const isKeyHeader = (name: string): boolean =>
  name !== '' && name.toLowerCase() !== 'cookie' && secretRuleOf({ place: 'header', name }) === 'kept'

/** Returns how a request authenticates: by its Authorization header, another header, or its query. */
export const findAuth = ({ url, headers }: Pick<Texts, 'url' | 'headers'>): FoundAuth => {
  const all = headersIn(headers)
  const authorization = all.find(({ name }) => isAuthorization(name))
  if (authorization !== undefined) {
    const [scheme = ''] = authorization.value.toLowerCase().split(/\s/, 1)
    return { kind: scheme === 'bearer' || scheme === 'basic' ? scheme : 'other', ...authorization }
  }
  const header = all.find(({ name }) => isKeyHeader(name))
  if (header !== undefined) return { kind: 'header', ...header }
  const pair = splitQuery(url).pairs.find(({ name }) => secretRuleOf({ place: 'query', name }) === 'kept')
  return pair === undefined ? NO_AUTH : { kind: 'query', name: pair.name, value: pair.text.slice(pair.name.length + 1) }
}

const withoutAuth = (texts: Texts, { kind, name }: FoundAuth): Texts => {
  if (kind === 'none') return texts
  if (kind !== 'query') return { ...texts, headers: withoutHeaders(texts.headers, header => header.name === name) }
  const query = splitQuery(texts.url)
  return { ...texts, url: joinQuery({ ...query, pairs: query.pairs.filter(pair => pair.name !== name) }) }
}

const namesIn = (texts: Texts): ReadonlySet<string> => {
  const all = [texts.url, ...texts.headers.split('\n'), texts.body]
  return new Set(
    all.flatMap(text =>
      scanTemplate(text, { pairs: 'keep', maxChars: MAX_BODY_TEMPLATE_CHARS }).places.map(({ name }) => name),
    ),
  )
}

/** Returns the name, or the next free one such as `token_2`: another parameter may have nothing to do with it. */
const freeName = (name: string, taken: ReadonlySet<string>): string => {
  for (let number = 2, free = name; ; free = `${name}_${number++}`) if (!taken.has(free)) return free
}

/** Replaces how a request authenticates. The credential becomes a parameter. */
export const setAuth = (texts: Texts, kind: AuthKind): Texts => {
  const bare = withoutAuth(texts, findAuth(texts))
  const taken = namesIn(bare)
  const add = (name: string, scheme: string, parameter: string): Texts => ({
    ...bare,
    headers: withHeader(bare.headers, { name, value: `${scheme}{{${freeName(parameter, taken)}}}` }),
  })
  switch (kind) {
    case 'none':
      return bare
    case 'bearer':
      return add('Authorization', 'Bearer ', 'token')
    case 'basic':
      return add('Authorization', 'Basic ', 'basic_credentials')
    case 'header':
      return add('X-Api-Key', '', 'api_key')
    case 'query': {
      const query = splitQuery(bare.url)
      const text = `api_key={{${freeName('api_key', taken)}}}`
      return { ...bare, url: joinQuery({ ...query, pairs: [...query.pairs, { text, name: 'api_key' }] }) }
    }
  }
}
