import type { FieldError } from '../../lib/kernel/errors.ts'
import { isReservedHeader } from '../../lib/kernel/http-headers.ts'
import { RESERVED_TOOL_PREFIX } from '../../lib/kernel/names.ts'
import { failure, type Result, success } from '../../lib/kernel/result.ts'
import { MAX_PLACES, MAX_URL_TEMPLATE_CHARS } from '../../templates/limits.ts'
import type { ToolDefinition } from '../tool.ts'
import { checkDefinition } from '../tool-definition.ts'
import { draftBody } from './draft-body.ts'
import {
  createDraftParameters,
  createSearch,
  type DraftParameters,
  type DraftVariable,
  type FoundSecret,
  type IsSecret,
  UnwritableRequest,
} from './draft-parameters.ts'
import { type CandidateParameter, type DraftUrl, draftUrl, singular } from './draft-url.ts'
import type { ImportedRequest, Pair } from './imported-request.ts'
import {
  joinTexts,
  type Piece,
  TEXT_WRITING,
  textPiece,
  URL_WRITING,
  type Writing,
  writeTemplate,
} from './template-pieces.ts'
import { fillMarks, hasVariables, toSnakeCase } from './variable-marks.ts'

export type RequestDraft = {
  /** Without the secrets of the request: each is a placeholder. */
  definition: ToolDefinition
  /** Values that could be parameters. They are not applied. */
  candidates: readonly CandidateParameter[]
  secrets: readonly FoundSecret[]
  variables: readonly DraftVariable[]
  /** What the draft changes or leaves out, as sentences for the user. */
  notes: readonly string[]
}

type DraftHeader = { name: string; pieces: readonly Piece[] }

/** Headers with credentials keep their scheme, as in `token {{authorization}}`. */
const draftCredentials = ({ name, value }: Pair, parameters: DraftParameters): DraftHeader => {
  if (hasVariables(value)) return { name, pieces: parameters.withVariables(value, true) }
  const [, scheme = ''] = /^([A-Za-z][\w-]{0,30} +)\S/.exec(value) ?? []
  const credentials = value.slice(scheme.length)
  return { name, pieces: [textPiece(scheme), parameters.secret({ place: 'header', name, value: credentials })] }
}

const draftHeaders = (request: ImportedRequest, parameters: DraftParameters): readonly DraftHeader[] =>
  request.headers
    .filter(({ name }) => !isReservedHeader(name.toLowerCase()))
    .map(header => {
      const { name, value } = header
      if (/^(?:authorization|cookie)$/i.test(name) && value !== '') return draftCredentials(header, parameters)
      return { name, pieces: parameters.value({ place: 'header', name, raw: value, decoded: value }) }
    })

const draftAuth = ({ auth }: ImportedRequest, parameters: DraftParameters): readonly DraftHeader[] => {
  const name = 'Authorization'
  if (auth.kind === 'none') return []
  if (auth.kind === 'bearer') {
    const found = { place: 'header', name, value: auth.token } as const
    const pieces = parameters.secretText(found, { suggestedName: 'access_token' })
    return [{ name, pieces: [textPiece('Bearer '), ...pieces] }]
  }
  const text = `${auth.user}:${auth.password}`
  // Base64 of a text cannot be put together from its parts, so all of it is one secret.
  const value = hasVariables(text) ? '' : Buffer.from(text).toString('base64')
  return [
    { name, pieces: [textPiece('Basic '), parameters.secret({ place: 'header', name, value }, 'basic_credentials')] },
  ]
}

const draftCookie = ({ name, value }: Pair, parameters: DraftParameters): readonly Piece[] =>
  value === '' ? [] : parameters.secretText({ place: 'cookie', name, value })

/** A single cookie keeps its name. Several, as a browser sends them, are one secret, unless they contain variables. */
const draftCookies = ({ cookies }: ImportedRequest, parameters: DraftParameters): readonly DraftHeader[] => {
  const [first, ...others] = cookies
  if (first === undefined) return []
  if (others.length === 0 && first.value !== '') {
    return [{ name: 'Cookie', pieces: [textPiece(`${first.name}=`), ...draftCookie(first, parameters)] }]
  }
  const list = cookies.map(cookie => `${cookie.name}=${cookie.value}`).join('; ')
  if (!hasVariables(list)) {
    return [{ name: 'Cookie', pieces: [parameters.secret({ place: 'header', name: 'Cookie', value: list })] }]
  }
  const pieces = cookies.flatMap((cookie, index) => [
    ...parameters.withVariables(`${index === 0 ? '' : '; '}${cookie.name}=`),
    ...draftCookie(cookie, parameters),
  ])
  return [{ name: 'Cookie', pieces }]
}

/** Suggests a name from the method and the last words of the path: `get_order` for `GET /v1/orders/123`. */
const nameOf = (method: string, { words, endsWithId }: DraftUrl): string => {
  const given = words.slice(-2).map(word => toSnakeCase(word.replace(/\.(?:json|xml|php)$/i, ''), '').slice(0, 24))
  const last = given.at(-1) ?? ''
  const nouns = [...given.slice(0, -1).map(singular), endsWithId ? singular(last) : last]
  const name = toSnakeCase(`${method} ${nouns.join(' ')}`, 'send')
  return name.startsWith(RESERVED_TOOL_PREFIX) ? `call_${name}` : name
}

const write = (path: string, pieces: readonly Piece[], writing: Writing): string => {
  const text = writeTemplate(pieces, writing)
  if (text !== undefined) return text
  throw new UnwritableRequest(
    path,
    'a { directly before a variable or a secret cannot be written in a template. Remove it',
  )
}

const writeField = (path: string, pieces: readonly Piece[], writing: Writing, parameters: DraftParameters): string => {
  const joined = joinTexts(pieces)
  if (joined.filter(({ kind }) => kind === 'parameter').length > MAX_PLACES) {
    throw new UnwritableRequest(path, `there are more than ${MAX_PLACES} secrets and variables`)
  }
  return write(path, parameters.hideSecrets(joined), writing)
}

/** Returns the password of basic authentication, or the user if there is no password: then the user is an API key. */
const passwordsOf = ({ auth }: ImportedRequest): readonly string[] => {
  if (auth.kind !== 'basic') return []
  const secret = auth.password === '' ? auth.user : auth.password
  return hasVariables(secret) ? [] : [secret]
}

/**
 * A secret can also be where no placeholder is allowed, such as in the name of a header, and a password elsewhere than
 * in its credentials.
 */
const assertWithoutSecrets = ({ url, headers, body = '' }: ToolDefinition, holdsSecret: (text: string) => boolean) => {
  if (![url, body, ...headers.flatMap(({ name, value }) => [name, value])].some(holdsSecret)) return
  throw new UnwritableRequest('', 'a secret is also in a place where no placeholder is allowed. Remove it there')
}

const draft = (request: ImportedRequest, isSecret: IsSecret): RequestDraft => {
  if (request.url.length > MAX_URL_TEMPLATE_CHARS) {
    throw new UnwritableRequest('url', `the URL is longer than ${MAX_URL_TEMPLATE_CHARS} characters`)
  }
  const parameters = createDraftParameters(request.variables, isSecret)
  const url = draftUrl(request.url, parameters, isSecret)
  const body = draftBody(request.body, parameters, isSecret)
  const headers = [
    ...draftHeaders(request, parameters),
    ...draftAuth(request, parameters),
    ...draftCookies(request, parameters),
    ...(body?.contentType === undefined ? [] : [{ name: 'Content-Type', pieces: [textPiece(body.contentType)] }]),
  ]
  // Secrets are replaced wherever they occur, so all of them must be known before anything is written.
  const text = body && writeField('body', body.pieces, body.writing, parameters)
  const holdsSecret = createSearch([...parameters.secrets().map(({ value }) => value), ...passwordsOf(request)])
  const definition: ToolDefinition = {
    name: nameOf(request.method, { ...url, words: url.words.filter(word => !holdsSecret(word)) }),
    method: request.method.toUpperCase(),
    url: write('url', url.origin, URL_WRITING) + writeField('url', url.pathAndQuery, URL_WRITING, parameters),
    headers: headers.map(({ name, pieces }, index) => ({
      name: fillMarks(name, variable => `$${variable}`),
      value: writeField(`headers[${index}].value`, pieces, TEXT_WRITING, parameters),
    })),
    ...(text === undefined || text === '' ? {} : { body: text }),
    parameters: {},
  }
  assertWithoutSecrets(definition, holdsSecret)
  return {
    definition,
    candidates: url.candidates.filter(({ value }) => !holdsSecret(value)),
    secrets: parameters.secrets(),
    variables: parameters.variables(),
    notes: [...url.notes, ...(body?.notes ?? []), ...noteChanges(request)],
  }
}

const noteChanges = ({ headers, auth }: ImportedRequest): readonly string[] => [
  ...(headers.some(({ name }) => isReservedHeader(name.toLowerCase()))
    ? ['Headers that only the connection or a browser sets, such as Host and Sec-Fetch-Mode, were left out.']
    : []),
  ...(auth.kind === 'basic' ? ['The parameter for basic authentication is the text user:password in Base64.'] : []),
]

/**
 * Turns a request into the draft of a tool: text stays literal, braces included, and secrets and variables become
 * placeholders. Credentials and cookies are always secrets; `isSecret` decides about all other values. Returns errors
 * if a tool cannot send the request, such as a variable in the name of a header.
 */
export const toToolDraft = (
  request: ImportedRequest,
  isSecret: IsSecret,
): Result<RequestDraft, readonly FieldError[]> => {
  try {
    const written = draft(request, isSecret)
    const checked = checkDefinition(written.definition)
    return checked.ok ? success(written) : checked
  } catch (error) {
    if (error instanceof UnwritableRequest) return failure([{ path: error.path, message: error.message }])
    throw error
  }
}
