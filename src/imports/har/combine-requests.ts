import { isJsonObject, type JsonObject, type JsonValue, measureJson, parseIfJson } from '../../lib/kernel/json.ts'
import { MAX_JSON_DEPTH } from '../../lib/kernel/limits.ts'
import { decodeFormText } from '../../tools/import/curl-url.ts'
import { createDraftParameters, type IsSecret } from '../../tools/import/draft-parameters.ts'
import { draftUrl } from '../../tools/import/draft-url.ts'
import type { ImportedRequest, Pair, RequestBody } from '../../tools/import/imported-request.ts'
import { originPart } from '../../tools/import/url-placeholders.ts'
import { holdsSecret, MAX_JSON_MEMBERS, schemaOfJson, typeOfJson } from '../requests/json-members.ts'
import { type Members, typeText } from '../requests/members.ts'
import { parameterizeBody } from '../requests/parameterize-request.ts'
import { combineValues, groupByKey } from './combine-values.ts'

/** `isSecret` is asked about every value, because it also collects the secrets of requests that are not the last. */
type Context = { members: Members; isSecret: IsSecret }
type Requests = readonly [ImportedRequest, ...ImportedRequest[]]

const pathOf = (url: string): string => url.slice(originPart(url).length).split('?', 1)[0] ?? ''
const queryOf = (url: string): string => url.slice(originPart(url).length).split(/\?(.*)/s)[1] ?? ''

/** Makes ids in the path parameters. */
const combinePath = ({ url, variables }: ImportedRequest, { members, isSecret }: Context): string => {
  const withoutQuery = originPart(url) + pathOf(url)
  const segments = pathOf(url).split('/')
  for (const { index, name, value: text } of draftUrl(
    withoutQuery,
    createDraftParameters(variables, isSecret),
    isSecret,
  ).candidates) {
    const { type, value } = typeText(text)
    segments[index + 1] = members.add({ name, type, example: value })
  }
  return originPart(url) + segments.join('/')
}

const splitPairs = (text: string): readonly (readonly [string, string | undefined])[] =>
  text === ''
    ? []
    : text.split('&').map(pair => {
        const equals = pair.indexOf('=')
        return equals === -1 ? [pair, undefined] : [pair.slice(0, equals), pair.slice(equals + 1)]
      })

/** Types texts, if all of them can be read as the same type. */
const typeTexts = (texts: readonly string[]) => {
  const [first, ...others] = texts.map(typeText)
  const isSame = first !== undefined && others.every(({ type }) => type === first.type)
  return isSame
    ? { type: first.type, values: [first, ...others].map(({ value }) => value) }
    : { type: 'string' as const, values: texts }
}

/** Combines the queries or forms of several requests: each key is a parameter, and has a list if it occurs repeatedly. */
const combinePairs = (texts: readonly string[], place: 'query' | 'form', { members, isSecret }: Context): string => {
  const pairs = texts.map(splitPairs)
  const written = [...groupByKey(pairs)].flatMap(([key, raws]) => {
    const name = decodeFormText(key)
    const last = raws.at(-1)
    const values = pairs.map(list => list.filter(([one]) => one === key).map(([, raw]) => decodeFormText(raw ?? '')))
    const given = values.filter(({ length }) => length > 0)
    if (last === undefined) return [key]
    const secrets = given.flat().filter(value => isSecret(place, name, value))
    if (secrets.length > 0) return [`${key}=${last}`]
    if (given.some(({ length }) => length > 1)) {
      const combined = combineValues(
        given.map((list): JsonValue => list),
        texts.length,
      )
      return [`${key}=${members.add({ name, type: 'json', serialization: 'repeat', ...combined })}`]
    }
    const { type, values: typed } = typeTexts(given.flat())
    const only = texts.length === 1 && place === 'query' ? { default: typed[0] } : undefined
    return [`${key}=${members.add({ name, type, ...(only ?? combineValues(typed, texts.length)) })}`]
  })
  return written.join('&')
}

/** Members that identify a GraphQL operation, as opposed to `variables`. */
const GRAPHQL = /^(?:query|operationName|extensions)$/

const isGraphql = (bodies: readonly JsonObject[]): boolean => bodies.every(({ query }) => typeof query === 'string')

const combineObjects = (bodies: readonly JsonObject[], { members, isSecret }: Context): string => {
  const areGraphql = isGraphql(bodies)
  const written = [...groupByKey(bodies.map(body => Object.entries(body)))].map(([key, values]) => {
    const name = JSON.stringify(key)
    const [last = null] = values.slice(-1)
    const secrets = values.filter(value => holdsSecret(value, key, isSecret))
    if (secrets.length > 0 || (areGraphql && GRAPHQL.test(key))) return `${name}: ${JSON.stringify(last)}`
    const types = new Set(values.map(typeOfJson))
    const areNumbers = values.every(value => typeof value === 'number')
    const type = types.size === 1 ? typeOfJson(last) : areNumbers ? 'number' : 'json'
    const schemas = new Set(values.map(value => JSON.stringify(schemaOfJson(value))))
    const schema = schemas.size === 1 ? schemaOfJson(last) : {}
    return `${name}: ${members.add({ name: key, type, ...schema, ...combineValues(values, bodies.length) })}`
  })
  return `{${written.join(', ')}}`
}

/** Undefined if it is not JSON, or too deep to be walked. */
const parseBody = (body: RequestBody): JsonValue | undefined =>
  body.kind === 'json' && measureJson(body.text).deepest <= MAX_JSON_DEPTH ? parseIfJson(body.text) : undefined

const combineBodies = (requests: Requests, last: ImportedRequest, context: Context): RequestBody => {
  const { body } = last
  const bodies = requests.map(request => request.body)
  if (body.kind === 'json') {
    const values = bodies.map(parseBody)
    const objects = values.filter(isJsonObject)
    const keys = new Set(objects.flatMap(Object.keys))
    if (objects.length === bodies.length && keys.size > 0 && keys.size <= MAX_JSON_MEMBERS) {
      return { ...body, text: combineObjects(objects, context) }
    }
  }
  if (body.kind === 'form' && bodies.every(({ kind }) => kind === 'form')) {
    const texts = bodies.map(one => (one.kind === 'form' ? one.text : ''))
    return { ...body, text: combinePairs(texts, 'form', context) }
  }
  return parameterizeBody(body, context)
}

/** A header that is the same in all requests is fixed. Others are parameters, except for credentials. */
const combineHeaders = (requests: Requests, { members, isSecret }: Context): readonly Pair[] => {
  const named = requests.map(({ headers }) => headers.map(header => [header.name.toLowerCase(), header] as const))
  return [...groupByKey(named)].flatMap(([, headers]) => {
    const [last] = headers.slice(-1)
    if (last === undefined) return []
    const values = headers.map(({ value }) => value)
    const isSame = values.length === requests.length && values.every(value => value === last.value)
    const { name } = last
    const secrets = values.filter(value => isSecret('header', name, value))
    if (isSame || secrets.length > 0 || /^authorization$/i.test(name)) return [last]
    return [{ name, value: members.add({ name, type: 'string', ...combineValues(values, requests.length) }) }]
  })
}

/**
 * Combines requests with the same method and path to one, whose values are parameters. Credentials are those of the last
 * request, which are the least likely to have expired.
 */
export const combineRequests = (requests: Requests, context: Context): ImportedRequest => {
  const last = requests.at(-1) ?? requests[0]
  const path = combinePath(last, context)
  const query = combinePairs(
    requests.map(({ url }) => queryOf(url)),
    'query',
    context,
  )
  const headers = combineHeaders(requests, context)
  const body = combineBodies(requests, last, context)
  return {
    ...last,
    url: path + (query === '' ? '' : `?${query}`),
    headers,
    body,
    variables: context.members.variables(),
    notes: [...new Set(requests.flatMap(({ notes }) => notes))],
  }
}
