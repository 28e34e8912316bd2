import { kindOf } from '../../templates/body-template.ts'
import type { IsSecret } from '../../tools/import/draft-parameters.ts'
import { UnwritableRequest } from '../../tools/import/draft-parameters.ts'
import type { MultipartPart, RequestBody } from '../../tools/import/imported-request.ts'
import { writeJsonMembers } from '../requests/json-members.ts'
import { typeText } from '../requests/members.ts'
import { parameterizeBody } from '../requests/parameterize-request.ts'
import type { PostmanBody, PostmanFormPart } from './collection.schema.ts'
import { writePairs } from './pairs.ts'
import type { RequestTexts } from './request-texts.ts'

type Context = { texts: RequestTexts; isSecret: IsSecret }

const JSON_TYPE = 'application/json'
const FORM_TYPE = 'application/x-www-form-urlencoded'
const MULTIPART_TYPE = 'multipart/form-data'

/** The Content-Type that Postman sends for the language of its editor. */
const LANGUAGES: ReadonlyMap<string, string> = new Map([
  ['json', JSON_TYPE],
  ['xml', 'application/xml'],
  ['html', 'text/html'],
  ['javascript', 'application/javascript'],
  ['text', 'text/plain'],
])

const writeJson = (raw: string, { texts, isSecret }: Context): string => {
  const text = writeJsonMembers(texts.mark(raw), { members: texts.members, isSecret })
  if (text !== undefined) return text
  texts.note('The body in Postman is not valid JSON. The model writes all of it.')
  return texts.members.add({ name: 'body', type: 'json' })
}

const readRaw = ({ raw = '', options }: PostmanBody, given: string | undefined, context: Context): RequestBody => {
  const { texts, isSecret } = context
  if (raw.trim() === '') return { kind: 'none' }
  const language = LANGUAGES.get(options?.raw?.language ?? '')
  // Postman sends text without a language as text/plain, also JSON, which no API accepts as that.
  const guessed = /^\s*[[{](?!\{)/.test(raw) ? JSON_TYPE : 'text/plain'
  const contentType = given ?? language ?? guessed
  const kind = kindOf(contentType)
  if (kind === 'json') return { kind, text: writeJson(raw, context), contentType }
  const text = texts.mark(raw)
  const body: RequestBody =
    kind === 'form' ? { kind, text, pairs: [], contentType } : { kind: 'text', text, contentType }
  return parameterizeBody(body, { members: texts.members, isSecret })
}

/** Disabled parts become optional parameters. */
const writePart = (part: PostmanFormPart, { texts, isSecret }: Context): MultipartPart | undefined => {
  const { key = '', value = '', description, type } = part
  const isOptional = part.disabled === true
  const name = texts.expand(key)
  const contentType = part.contentType || undefined
  if (name === undefined || name === '') return undefined
  if (type === 'file') {
    texts.note('Files are sent as text: the parameter is the content of the file.')
    const fileName = part.fileName || 'file'
    return { name, value: texts.members.add({ name, description, isOptional }), fileName, contentType }
  }
  const isKept = texts.hasVariables(value) || isSecret('multipart', name, value)
  if (isKept && isOptional) return undefined
  const { type: valueType, value: example } = typeText(value)
  const member = { name, description, isOptional, type: valueType, example }
  const text = isKept ? texts.mark(value) : texts.members.add(member)
  return { name, value: text, fileName: undefined, contentType }
}

const readMultipart = (parts: readonly PostmanFormPart[], context: Context): RequestBody => {
  const written = parts.flatMap(part => writePart(part, context) ?? [])
  return written.length === 0 ? { kind: 'none' } : { kind: 'multipart', parts: written, contentType: MULTIPART_TYPE }
}

/** The variables of a GraphQL query become parameters. */
const readGraphql = (graphql: NonNullable<PostmanBody['graphql']>, context: Context): RequestBody => {
  const { query = '', variables, operationName } = graphql
  const { texts, isSecret } = context
  const given = variables.trim()
  const written = given === '' ? undefined : writeJsonMembers(texts.mark(given), { members: texts.members, isSecret })
  const mark = written ?? texts.members.add({ name: 'variables', type: 'json', isOptional: true })
  const name =
    operationName === undefined || operationName === '' ? '' : `"operationName": ${JSON.stringify(operationName)}, `
  const text = `{"query": ${texts.mark(JSON.stringify(query))}, ${name}"variables": ${mark}}`
  return { kind: 'json', text, contentType: JSON_TYPE }
}

/** Reads a body. Throws `UnwritableRequest` if it is a file. `given` is the Content-Type that the headers have. */
export const readBody = (
  body: PostmanBody | null | undefined,
  given: string | undefined,
  context: Context,
): RequestBody => {
  if (body === null || body === undefined || body.disabled === true) return { kind: 'none' }
  switch (body.mode) {
    case 'raw':
      return readRaw(body, given, context)
    case 'urlencoded': {
      const text = writePairs(body.urlencoded, { ...context, place: 'form' })
      return text === '' ? { kind: 'none' } : { kind: 'form', text, pairs: [], contentType: FORM_TYPE }
    }
    case 'formdata':
      return readMultipart(body.formdata, context)
    case 'graphql':
      return body.graphql ? readGraphql(body.graphql, context) : { kind: 'none' }
    case 'file':
      throw new UnwritableRequest('body', 'Its body is a file, which tools cannot send yet.')
    default:
      return { kind: 'none' }
  }
}
