import { kindOf } from '../../templates/body-template.ts'
import { isJson } from './curl-body.ts'
import { decodeFormText } from './curl-url.ts'
import { type DraftParameters, type IsSecret, UnwritableRequest } from './draft-parameters.ts'
import { draftXml } from './draft-xml.ts'
import type { MultipartPart, RequestBody } from './imported-request.ts'
import { JSON_WRITING, type Piece, TEXT_WRITING, textPiece, URL_WRITING, type Writing } from './template-pieces.ts'
import { fillMarks, hasVariables, onlyVariable, splitMarks } from './variable-marks.ts'

export type DraftBody = {
  pieces: readonly Piece[]
  writing: Writing
  contentType: string | undefined
  notes: readonly string[]
}

/** Replaces variables by digits of the same length, which are valid inside a string and as a value. */
const withDigits = (text: string): string => fillMarks(text, name => '1'.repeat(name.length + 2))

const TOKEN = /"[^"\\]*(?:\\.[^"\\]*)*"|-?\d[\d.eE+-]*|[^"\d-]+|-/sy

type JsonToken = { kind: 'string' | 'number' | 'other'; start: number; end: number }

const listTokens = (json: string): readonly JsonToken[] => {
  const tokens: JsonToken[] = []
  TOKEN.lastIndex = 0
  for (let start = 0; start < json.length; start = TOKEN.lastIndex) {
    const [text = ''] = TOKEN.exec(json) ?? []
    if (text === '') break
    const kind = text.startsWith('"') ? 'string' : /^-?\d/.test(text) ? 'number' : 'other'
    tokens.push({ kind, start, end: start + text.length })
  }
  return tokens
}

const parseString = (json: string): string => {
  const value: unknown = JSON.parse(json)
  return typeof value === 'string' ? value : ''
}

/**
 * Drafts valid JSON: secrets and variables in strings and numbers become parameters, and all other text stays. The tool
 * escapes their values, unless it sends the JSON `asText`.
 */
const draftJson = (
  text: string,
  parameters: DraftParameters,
  isSecret: IsSecret,
  { asText = false } = {},
): readonly Piece[] => {
  const json = withDigits(text)
  const tokens = listTokens(json)
  let name = ''
  return tokens.flatMap(({ kind, start, end }, index): readonly Piece[] => {
    const raw = text.slice(start, end)
    const following = tokens[index + 1]
    if (
      kind === 'string' &&
      following !== undefined &&
      /^\s*:/.test(json.slice(following.start, following.start + 100))
    ) {
      name = parseString(json.slice(start, end))
      return parameters.withVariables(raw)
    }
    if (kind === 'string') {
      const inner = raw.slice(1, -1)
      const decoded = asText || hasVariables(inner) ? inner : parseString(raw)
      return [textPiece('"'), ...parameters.value({ place: 'json', name, raw: inner, decoded }), textPiece('"')]
    }
    if (kind === 'number' && hasVariables(raw)) {
      return splitMarks(raw).map(piece => (piece.kind === 'text' ? piece : parameters.variable(piece.name, 'json')))
    }
    if (kind === 'number' && isSecret('json', name, raw)) {
      return [parameters.secret({ place: 'json', name, value: raw }, name, 'number')]
    }
    return [textPiece(raw)]
  })
}

const NO_KEY =
  'the keys of the form come from a file or a variable. Write them out, as in key={{name}}, or set another Content-Type'

const draftForm = (text: string, parameters: DraftParameters): readonly Piece[] =>
  text.split('&').flatMap((pair, index): readonly Piece[] => {
    const equals = pair.indexOf('=')
    const separator = textPiece(index === 0 ? '' : '&')
    if (hasVariables(equals === -1 ? pair : pair.slice(0, equals))) throw new UnwritableRequest('body', NO_KEY)
    if (equals === -1) return [separator, textPiece(pair)]
    const raw = pair.slice(equals + 1)
    const value = {
      place: 'form',
      name: decodeFormText(pair.slice(0, equals)),
      raw,
      decoded: decodeFormText(raw),
    } as const
    return [separator, textPiece(pair.slice(0, equals + 1)), ...parameters.value(value)]
  })

/** Returns a boundary that no part contains. Searches the parts once, because they may contain thousands of them. */
const boundaryFor = (parts: readonly MultipartPart[]): string => {
  const texts = parts.flatMap(({ name, value, fileName = '', contentType = '' }) => [
    name,
    value,
    fileName,
    contentType,
  ])
  const taken = new Set(texts.flatMap(text => [...text.matchAll(/patchbay-part-(\d{4})/g)].map(([, number]) => number)))
  const free = Array.from({ length: 9_000 }, (_, index) => String(1_000 + index)).find(number => !taken.has(number))
  if (free === undefined)
    throw new UnwritableRequest('body', 'the parts contain every boundary that Patchbay could use. Change their text')
  return `patchbay-part-${free}`
}

/** Escapes a name in a header of a part, as browsers do (HTML standard, multipart/form-data encoding). */
const escapeName = (text: string): string => text.replaceAll('"', '%22').replaceAll('\r', '%0D').replaceAll('\n', '%0A')

const draftPart = (part: MultipartPart, boundary: string, parameters: DraftParameters): readonly Piece[] => {
  const { name, value, fileName, contentType } = part
  const file = fileName === undefined ? '' : `; filename="${escapeName(fileName)}"`
  const type = contentType === undefined ? '' : `Content-Type: ${contentType}\r\n`
  const head = `--${boundary}\r\nContent-Disposition: form-data; name="${escapeName(name)}"${file}\r\n${type}\r\n`
  return [
    ...parameters.withVariables(head),
    ...parameters.value({ place: 'multipart', name, raw: value, decoded: value }),
    textPiece('\r\n'),
  ]
}

const draftMultipart = (
  { parts, contentType }: Extract<RequestBody, { kind: 'multipart' }>,
  parameters: DraftParameters,
): DraftBody => {
  const boundary = boundaryFor(parts)
  const pieces = parts.flatMap(part => draftPart(part, boundary, parameters))
  const notes = parts.some(({ fileName }) => fileName !== undefined)
    ? ['Files are sent as text: the parameter is the content of the file.']
    : []
  return {
    pieces: [...pieces, textPiece(`--${boundary}--\r\n`)],
    writing: TEXT_WRITING,
    contentType: `${contentType}; boundary=${boundary}`,
    notes,
  }
}

/** Drafts a multipart body as a browser copies it: the command contains it as text. */
const draftParts = (text: string, contentType: string, parameters: DraftParameters): readonly Piece[] => {
  const boundary = /boundary="?([^\s;"]+)/i.exec(contentType)?.[1]
  if (boundary === undefined) return parameters.withVariables(text)
  return text.split(`--${boundary}`).flatMap((part, index) => {
    const [head = part] = /^[^\0]*?\n\r?\n/.exec(part) ?? []
    const [end = ''] = /\r?\n$/.exec(part.slice(head.length)) ?? []
    const raw = part.slice(head.length, part.length - end.length)
    const name = /;\s*name="?([^"\s;]*)/i.exec(head)?.[1] ?? ''
    return [
      textPiece(index === 0 ? '' : `--${boundary}`),
      ...parameters.withVariables(head),
      ...parameters.value({ place: 'multipart', name, raw, decoded: raw }),
      textPiece(end),
    ]
  })
}

/**
 * JSON that a command sends as a form, because it sets no Content-Type, is sent as JSON. A tool always sends a
 * Content-Type; unknown content is `application/octet-stream` (RFC 9110 §8.3).
 */
const draftText = (
  { text, contentType }: Extract<RequestBody, { kind: 'text' }>,
  parameters: DraftParameters,
  isSecret: IsSecret,
): DraftBody => {
  const kind = contentType === undefined ? undefined : kindOf(contentType)
  const holdsJson = /^\s*[[{]/.test(text) && isJson(text)
  if (holdsJson && (kind === undefined || kind === 'form')) return sentAsJson(draftJson(text, parameters, isSecret))
  const draftTyped = (): readonly Piece[] => {
    if (holdsJson) return draftJson(text, parameters, isSecret, { asText: true })
    if (kind === 'xml') return draftXml(text, parameters, isSecret)
    return kind === 'multipart' ? draftParts(text, contentType ?? '', parameters) : parameters.withVariables(text)
  }
  const pieces = draftTyped()
  if (contentType !== undefined) return { pieces, writing: TEXT_WRITING, contentType, notes: [] }
  const notes = ['The command sends no Content-Type. The tool sends application/octet-stream.']
  return { pieces, writing: TEXT_WRITING, contentType: 'application/octet-stream', notes }
}

const sentAsJson = (pieces: readonly Piece[]): DraftBody => ({
  pieces,
  writing: JSON_WRITING,
  contentType: 'application/json',
  notes: ['The body is JSON, so the tool sends it with the Content-Type application/json.'],
})

const draftFormBody = (
  { text, contentType }: Extract<RequestBody, { kind: 'form' }>,
  parameters: DraftParameters,
  isSecret: IsSecret,
): DraftBody => {
  const file = onlyVariable(text)
  if (file !== undefined && /^@.*\.json$/i.test(parameters.writtenAs(file)))
    return sentAsJson(draftJson(text, parameters, isSecret))
  return { pieces: draftForm(text, parameters), writing: URL_WRITING, contentType, notes: [] }
}

/** Drafts a body. Undefined if the request has none. */
export const draftBody = (
  body: RequestBody,
  parameters: DraftParameters,
  isSecret: IsSecret,
): DraftBody | undefined => {
  switch (body.kind) {
    case 'none':
      return undefined
    case 'json': {
      const pieces = draftJson(body.text, parameters, isSecret)
      return { pieces, writing: JSON_WRITING, contentType: body.contentType, notes: [] }
    }
    case 'form':
      return draftFormBody(body, parameters, isSecret)
    case 'multipart':
      return draftMultipart(body, parameters)
    case 'text':
      return draftText(body, parameters, isSecret)
  }
}
