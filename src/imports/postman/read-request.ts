import { isLoopback } from '../../lib/kernel/loopback.ts'
import { parseAuthorization, parseCookies, takeHeaders } from '../../tools/import/curl-headers.ts'
import { percentDecode } from '../../tools/import/curl-url.ts'
import type { IsSecret } from '../../tools/import/draft-parameters.ts'
import type { ImportedRequest, Pair, RequestAuth } from '../../tools/import/imported-request.ts'
import { isSecretValue } from '../../tools/import/secret-values.ts'
import { hasVariables } from '../../tools/import/variable-marks.ts'
import type { CollectedRequest } from '../requests/draft-operation.ts'
import { typeText } from '../requests/members.ts'
import { type Credentials, readAuth } from './auth.ts'
import { readBody } from './body.ts'
import type { PostmanAuth, PostmanItem, PostmanRequest } from './collection.schema.ts'
import { readTypeOnly, withoutRequired } from './generated-values.ts'
import { readHeaders } from './headers.ts'
import { writePairs } from './pairs.ts'
import { readUrl, type UrlText } from './read-url.ts'
import { BASE_URL, createRequestTexts, type RequestTexts } from './request-texts.ts'
import type { Scope } from './variables.ts'

/** Postman sends the bodies of these only if the request says so. */
const WITHOUT_BODY = /^(?:GET|HEAD|COPY|PURGE|UNLOCK)$/

/** What a request has from the folders around it. */
export type Inherited = {
  tags: readonly string[]
  auth: PostmanAuth | undefined
  scripts: readonly string[]
  sendsAllBodies: boolean
}

const PATH_VARIABLE = /^:([A-Za-z_].*)$/s

const escapeSegment = (text: string): string => text.replaceAll(/[?#/\s]|%(?![0-9A-Fa-f]{2})/g, encodeURIComponent)

const writeSegment = (segment: string, variables: UrlText['variables'], texts: RequestTexts): string => {
  const [, name] = PATH_VARIABLE.exec(segment) ?? []
  if (name === undefined) return texts.markSegment(segment, escapeSegment)
  const { value = '', description = '' } = variables.find(({ key }) => key === name) ?? {}
  if (texts.hasVariables(value) || isSecretValue('path', name, value)) return texts.markSegment(value, escapeSegment)
  const typed = readTypeOnly(value, description)
  const example = value === '' || typed !== undefined ? undefined : typeText(value)
  const member = { name, description: withoutRequired(description) }
  if (example === undefined) return texts.members.add({ ...member, type: typed?.type })
  return texts.members.add({ ...member, type: example.type, example: example.value })
}

const MAX_PATH_CHARS = 300

/** Returns method and path as API descriptions write them: `/orders/{id}`. */
export const targetOf = (request: PostmanRequest): { method: string; path: string } => {
  const segments = (readUrl(request.url).path ?? []).map(segment =>
    segment.replace(PATH_VARIABLE, '{$1}').replaceAll(/\{\{([^{}]*)\}\}/g, '{$1}'),
  )
  return {
    method: (request.method || 'GET').toUpperCase(),
    path: `/${segments.join('/')}`.slice(0, MAX_PATH_CHARS),
  }
}

type Base = { url: string | undefined; user: string; password: string }

/** Fills in the variables at the start of a URL. `url` is undefined if one has no value. */
const readBase = (origin: string, texts: RequestTexts): Base => {
  const none = { user: '', password: '' }
  const text = texts.expand(origin)?.trim()
  if (text === undefined || text === '') return { url: undefined, ...none }
  const host = URL.parse(`http://${text}`)
  const scheme = host !== null && isLoopback(host) ? 'http' : 'https'
  const url = URL.parse(/^[a-z][a-z0-9+.-]*:\/\//i.test(text) ? text : `${scheme}://${text}`)
  if (url === null || !/^https?:$/.test(url.protocol)) return { url: undefined, ...none }
  const credentials = { user: percentDecode(url.username), password: percentDecode(url.password) }
  return { url: (url.origin + url.pathname).replace(/\/$/, ''), ...credentials }
}

const withoutName = (headers: readonly Pair[], name: string): readonly Pair[] =>
  headers.filter(header => header.name.toLowerCase() !== name.toLowerCase())

/** Credentials of Postman replace a header of the same name. Without them, the request's own header or URL counts. */
const applyCredentials = (given: readonly Pair[], { auth, header }: Credentials, base: Base) => {
  if (auth.kind !== 'none') return { auth, headers: withoutName(given, 'Authorization') }
  if (header !== undefined) return { auth, headers: [...withoutName(given, header.name), header] }
  const own = given.find(({ name }) => /^authorization$/i.test(name))?.value
  const parsed = own === undefined || hasVariables(own) ? undefined : parseAuthorization(own)
  if (parsed !== undefined) return { auth: parsed, headers: withoutName(given, 'Authorization') }
  const { user, password } = base
  const ofUrl: RequestAuth = own === undefined && user !== '' ? { kind: 'basic', user, password } : auth
  return { auth: ofUrl, headers: given }
}

/** A list of cookies with variables stays a header. */
const takeCookies = (headers: readonly Pair[]): Pick<ImportedRequest, 'headers' | 'cookies'> => {
  const { rest, values } = takeHeaders(headers, 'cookie')
  const [value = '', more] = values
  const cookies = more === undefined && !hasVariables(value) ? parseCookies(value) : undefined
  return cookies === undefined ? { headers, cookies: [] } : { headers: rest, cookies }
}

const noteScripts = (item: PostmanItem, inherited: Inherited, texts: RequestTexts): void => {
  if (item.event.length + inherited.scripts.length > 0) texts.note('It has scripts in Postman, which are not run.')
}

/** Names of headers and query parameters are secrets if the credentials are there. */
const secretsOf =
  ({ header, query }: Credentials): IsSecret =>
  (place, name, value) =>
    (place === 'header' && name === header?.name) ||
    (place === 'query' && name === query?.name) ||
    isSecretValue(place, name, value)

const writeQuery = (url: UrlText, { query }: Credentials, texts: RequestTexts, isSecret: IsSecret): string => {
  const own = url.query.filter(({ key }) => key !== query?.name)
  const pairs = writePairs(own, { texts, isSecret, place: 'query' })
  const credential = query === undefined ? '' : `${encodeURIComponent(query.name)}=${query.value}`
  const all = [pairs, credential].filter(text => text !== '').join('&')
  return all === '' ? '' : `?${all}`
}

const readImported = (item: PostmanItem, request: PostmanRequest, inherited: Inherited, texts: RequestTexts) => {
  const { method, path: shownPath } = targetOf(request)
  const url = readUrl(request.url)
  const base = readBase(url.origin, texts)
  const credentials = readAuth(request.auth ?? item.auth ?? inherited.auth, texts)
  const isSecret = secretsOf(credentials)
  const { headers, contentType } = readHeaders(request.header, { texts, isSecret })
  const path = (url.path ?? []).map(segment => writeSegment(segment, url.variables, texts)).join('/')
  const start = texts.markVariable(BASE_URL, { name: 'base_url', type: 'url' })
  const query = writeQuery(url, credentials, texts, isSecret)
  const sendsBody = !WITHOUT_BODY.test(method) || inherited.sendsAllBodies
  const body = readBody(sendsBody && method !== 'HEAD' ? request.body : undefined, contentType, { texts, isSecret })
  noteScripts(item, inherited, texts)
  const { auth, headers: others } = applyCredentials(headers, credentials, base)
  const written: Omit<ImportedRequest, 'variables' | 'notes'> = {
    method,
    url: start + (url.path === undefined ? '' : `/${path}`) + query,
    auth,
    ...takeCookies(others),
    body,
  }
  const { unsupported } = credentials
  return {
    written,
    isSecret,
    baseUrl: base.url,
    origin: url.origin,
    unsupportedSecurity: unsupported,
    method,
    path: shownPath,
  }
}

/** A request of a collection. `origin` is the start of its URL as written. */
export type CollectedItem = CollectedRequest & { origin: string }

/** Reads a request of a collection, without its key. Throws `UnwritableRequest` if no tool can send it. */
export const readRequest = (
  item: PostmanItem,
  request: PostmanRequest,
  inherited: Inherited,
  scope: Scope,
): CollectedItem => {
  const texts = createRequestTexts(scope)
  const { written, ...rest } = readImported(item, request, inherited, texts)
  const { variables, metas, notes } = texts.finish()
  return {
    ...rest,
    key: '',
    operationId: item.id ?? item._postman_id,
    summary: item.name,
    tags: inherited.tags,
    deprecated: false,
    description: request.description || item.description,
    request: { ...written, variables, notes },
    metas,
  }
}
