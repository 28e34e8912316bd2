import type { JsonValue } from '../../lib/kernel/json.ts'
import { kindOf } from '../../templates/body-template.ts'
import { decodeFormText } from '../../tools/import/curl-url.ts'
import { draftBody } from '../../tools/import/draft-body.ts'
import { createDraftParameters, type IsSecret, type ValuePlace } from '../../tools/import/draft-parameters.ts'
import { type CandidateParameter, draftUrl } from '../../tools/import/draft-url.ts'
import type { ImportedRequest, RequestBody } from '../../tools/import/imported-request.ts'
import { originPart } from '../../tools/import/url-placeholders.ts'
import { hasVariables } from '../../tools/import/variable-marks.ts'
import { writeJsonMembers } from './json-members.ts'
import { type Members, typeText } from './members.ts'

type Context = { members: Members; isSecret: IsSecret }

/** Longer texts stay in the body as they are. */
const MAX_TEXT_PARAMETER_CHARS = 4_000

/** Returns the parameter for a value that occurs several times in the query: a list of all its values. */
const addList = (name: string, candidates: readonly CandidateParameter[], members: Members): string => {
  const values: JsonValue[] = candidates.map(({ value }) => value)
  return members.add({ name, type: 'json', serialization: 'repeat', default: values })
}

const addCandidate = ({ place, name, value: text }: CandidateParameter, members: Members): string => {
  const { type, value } = typeText(text)
  return members.add({ name, type, ...(place === 'query' ? { default: value } : { example: value }) })
}

/** Replaces ids in the path, and all values in the query but secrets and empty ones. */
const parameterizeUrl = (request: ImportedRequest, { members, isSecret }: Context): string => {
  const { candidates } = draftUrl(request.url, createDraftParameters(request.variables, isSecret), isSecret)
  const origin = originPart(request.url)
  const [path = '', query] = request.url.slice(origin.length).split(/\?(.*)/s)
  const segments = path.split('/')
  const pairs: (string | undefined)[] = query?.split('&') ?? []
  const keyOf = ({ index }: CandidateParameter): string => pairs[index]?.split('=', 1)[0] ?? ''
  const inQuery = candidates.filter(({ place, value }) => place === 'query' && value !== '')
  for (const candidate of candidates) {
    if (candidate.place === 'path') segments[candidate.index + 1] = addCandidate(candidate, members)
  }
  for (const [key, [first, ...others]] of Map.groupBy(inQuery, keyOf)) {
    if (first === undefined) continue
    const mark = others.length === 0 ? addCandidate(first, members) : addList(first.name, [first, ...others], members)
    for (const { index } of others) pairs[index] = undefined
    pairs[first.index] = `${key}=${mark}`
  }
  const written = pairs.filter(pair => pair !== undefined).join('&')
  return origin + segments.join('/') + (query === undefined ? '' : `?${written}`)
}

/** Returns the parameter for a value of a form or a multipart body. A secret or a text with variables stays. */
const replaceValue = (place: ValuePlace, name: string, raw: string, value: string, context: Context): string => {
  if (hasVariables(name + raw) || name === '' || context.isSecret(place, name, value)) return raw
  const { type, value: example } = typeText(value)
  return context.members.add({ name, type, example })
}

const parameterizeForm = (text: string, context: Context): string =>
  text
    .split('&')
    .map(pair => {
      const equals = pair.indexOf('=')
      if (equals === -1) return pair
      const [key, raw] = [pair.slice(0, equals), pair.slice(equals + 1)]
      return `${key}=${replaceValue('form', decodeFormText(key), raw, decodeFormText(raw), context)}`
    })
    .join('&')

/** Returns whether a text is searched for secrets and has some, or has parts of its own. */
const hasPlaces = (body: RequestBody, isSecret: IsSecret): boolean => {
  const parameters = createDraftParameters([], isSecret)
  const draft = draftBody(body, parameters, isSecret)
  return parameters.secrets().length > 0 || kindOf(draft?.contentType ?? '') === 'multipart'
}

/** Returns whether a command sends a text as a form, or without a Content-Type, because it does not set one for JSON. */
const isAsForm = ({ contentType }: Extract<RequestBody, { kind: 'text' }>): boolean =>
  contentType === undefined || kindOf(contentType) === 'form'

const asJson = (text: string): RequestBody => ({ kind: 'json', text, contentType: 'application/json' })

/** A text is one parameter, unless it has variables or secrets, or is so long that a model would not repeat it. */
const parameterizeText = (body: Extract<RequestBody, { kind: 'text' }>, context: Context): RequestBody => {
  const { text } = body
  const json = /^\s*[[{]/.test(text) ? writeJsonMembers(text, context) : undefined
  if (json !== undefined) {
    // Only a text that still looks like JSON is recognized as such when the request is written.
    return isAsForm(body) && !/^\s*[[{]/.test(json) ? asJson(json) : { ...body, text: json }
  }
  // JSON that is not valid. As a text, it would be sent in quotes.
  if (kindOf(body.contentType ?? '') === 'json')
    return { ...body, text: context.members.add({ name: 'body', type: 'json' }) }
  const isKept = hasVariables(text) || text === '' || text.length > MAX_TEXT_PARAMETER_CHARS
  if (isKept || hasPlaces(body, context.isSecret)) return body
  return { ...body, text: context.members.add({ name: 'body', type: 'string', example: text }) }
}

/** Replaces the values of a body by parameters, which have them as examples. */
export const parameterizeBody = (body: RequestBody, context: Context): RequestBody => {
  switch (body.kind) {
    case 'none':
      return body
    case 'json':
      return { ...body, text: writeJsonMembers(body.text, context) ?? body.text }
    case 'form':
      return { ...body, text: parameterizeForm(body.text, context) }
    case 'multipart': {
      const parts = body.parts.map(part => ({
        ...part,
        value: replaceValue('multipart', part.name, part.value, part.value, context),
      }))
      return { ...body, parts }
    }
    case 'text':
      return parameterizeText(body, context)
  }
}

/**
 * Makes the values of a request parameters: ids in the path, the query, and the body. Values in the query become
 * defaults, others examples. Secrets, variables and headers stay.
 */
export const parameterizeRequest = (request: ImportedRequest, context: Context): ImportedRequest => {
  const url = parameterizeUrl(request, context)
  const body = parameterizeBody(request.body, context)
  return { ...request, url, body, variables: [...request.variables, ...context.members.variables()] }
}
