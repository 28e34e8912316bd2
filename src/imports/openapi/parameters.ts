import { isReservedHeader } from '../../lib/kernel/http-headers.ts'
import { isJsonObject, type JsonObject, type JsonValue } from '../../lib/kernel/json.ts'
import type { SchemaReader } from '../schemas/to-schema.ts'
import { UnusableOperation } from './imported-operation.ts'
import { isParameterName } from './names.ts'
import { objectEntries, toList, toObject, toText } from './nodes.ts'
import { type Description, LIST_STYLE } from './open-description.ts'
import { listExpressions, type PathExpression, readExpression } from './path-expressions.ts'
import type { OpenValue, Placeholders } from './placeholders.ts'
import type { Security } from './security.ts'
import { chooseKind, encodeName, type Kind, type Style, serializationOf, writePair } from './styles.ts'

/** The parts of a request that parameters are in. */
export type WrittenParameters = {
  /** Text in the place of each `{name}` of the path. */
  path: ReadonlyMap<string, string>
  query: readonly string[]
  headers: readonly { name: string; value: string }[]
  cookies: readonly string[]
}

type Parts = {
  path: Map<string, string>
  query: string[]
  headers: { name: string; value: string }[]
  cookies: string[]
}

type Place = Exclude<OpenValue['place'], 'body'>
type Parameter = { name: string; place: Place | 'querystring'; node: JsonObject }

/** Longer descriptions say it at their beginning, if at all. */
const MAX_READ_CHARS = 2_000

const PLACES = ['path', 'query', 'header', 'cookie', 'querystring'] as const

/** Headers that OpenAPI describes elsewhere (3.1.1 §4.8.12.1). */
const DESCRIBED_ELSEWHERE: ReadonlySet<string> = new Set(['accept', 'content-type', 'authorization'])
/** RFC 9110 §5.6.2. */
const TOKEN = /^[!#$%&'*+.^_`|~0-9A-Za-z-]+$/

export type OperationContext = {
  description: Description
  security: Security
  reader: SchemaReader
  placeholders: Placeholders
  note: (text: string) => void
}

/** Returns the parameters of a path item and its operation, which replaces those of the same place and name. */
const listParameters = (
  nodes: readonly JsonValue[],
  { description, security, note }: OperationContext,
): readonly Parameter[] => {
  const found = new Map<string, Parameter>()
  for (const given of nodes) {
    const { value, missing } = description.follow(given)
    if (missing !== undefined) note(`A parameter was left out, because its reference leads nowhere: ${missing}`)
    if (!isJsonObject(value)) continue
    const name = toText(value.name)
    const place = PLACES.find(one => one === value.in)
    if (name === '' || place === undefined) note('A parameter without a name or with an unknown place was left out.')
    else if (!security.isCredential(place, name)) found.set(`${place} ${name}`, { name, place, node: value })
  }
  return [...found.values()]
}

const styleOf = ({ place, node }: Parameter): Style => {
  const isForm = place === 'query' || place === 'cookie'
  const listStyle = toText(node[LIST_STYLE])
  if (listStyle !== '') return { style: listStyle, explode: false }
  const style = toText(node.style) || (isForm ? 'form' : 'simple')
  const isExploded = style === 'form' || style === 'cookie' || style === 'deepObject'
  return { style, explode: typeof node.explode === 'boolean' ? node.explode : isExploded }
}

/** Extensions of GitHub and Azure, and the keyword of OpenAPI 3.2. */
const SLASH_MARKS = ['allowReserved', 'x-multi-segment', 'x-ms-skip-url-encoding'] as const
const SLASHES_ALLOWED = /\b(?:may|can|could|might) (?:also )?(?:contain|include|have|use) (?:forward )?slashes\b/i
/** Where slashes have to be encoded, the API reads the value as one segment. */
const ENCODED = /encod|escap|%2f/i

/** Returns whether the values may contain slashes that are sent as such, by what is said about the parameter. */
const keepsSlashes = ({ node }: Parameter): boolean => {
  const text = toText(node.description).slice(0, MAX_READ_CHARS)
  return (
    SLASH_MARKS.some(mark => node[mark] === true) ||
    toText(toObject(node.schema).format ?? node.format) === 'path' ||
    (SLASHES_ALLOWED.test(text) && !ENCODED.test(text))
  )
}

type Written = { text: string; style: Style; kind: Kind }

const writeValue = (parameter: Parameter, place: Place, context: OperationContext, isOpen = false): Written => {
  const { name, node } = parameter
  const [content] = objectEntries(node.content)
  const common = { name, place, required: place === 'path' || node.required === true, description: node.description }
  const style = styleOf(parameter)
  const { placeholders, reader } = context
  if (content !== undefined) {
    const isJson = /[/+]json/.test(content[0])
    const value = {
      ...common,
      schema: reader.read(content[1].schema),
      position: isJson ? 'json-text' : 'text',
      examples: reader.listExamples({ ...content[1], ...node }, content[1].schema),
    } as const
    return { text: placeholders.open(value), style, kind: 'scalar' }
  }
  // In a document that is not upgraded, a parameter of Swagger 2.0 is its own schema.
  const { required: _required, description: _description, name: _name, in: _in, ...own } = node
  const schema = node.schema ?? own
  const { kind, node: chosen } = chooseKind(schema, style.style, reader)
  const segments = place === 'path' && kind === 'scalar' && (isOpen || keepsSlashes(parameter)) ? 'segments' : undefined
  const serialization = segments ?? serializationOf(style, kind)
  const examples = reader.listExamples(node, schema)
  const value = { ...common, schema: reader.read(chosen), position: 'text', serialization, examples } as const
  return { text: placeholders.open(value), style, kind }
}

const PREFIXES: Readonly<Record<string, string>> = { label: '.', matrix: ';' }

const writeInPath = (name: string, { text, style, kind }: Written): string => {
  const isKeyed = style.style === 'matrix' && serializationOf(style, kind) !== 'spread'
  return `${PREFIXES[style.style] ?? ''}${isKeyed ? `${encodeName(name)}=` : ''}${text}`
}

const writeCookie = (name: string, { text, style, kind }: Written): string =>
  serializationOf(style, kind) === 'spread' ? text : `${encodeURIComponent(name)}=${text}`

/** Returns why a header is left out: a note, or an empty text if that needs none. */
const refuseHeader = (name: string): string | undefined => {
  const lower = name.toLowerCase()
  if (DESCRIBED_ELSEWHERE.has(lower)) return ''
  if (lower === 'cookie') return 'The header Cookie was left out: describe cookies one by one.'
  if (!TOKEN.test(name)) return 'A header with an invalid name was left out.'
  return isReservedHeader(lower) ? `The header ${name} was left out, because the connection sets it.` : undefined
}

/** Writes the whole query of OpenAPI 3.2 (`in: querystring`), if it is a form. */
const writeQueryString = ({ node }: Parameter, context: OperationContext): readonly string[] => {
  const [type, media] = objectEntries(node.content)[0] ?? []
  if (type !== 'application/x-www-form-urlencoded' || media === undefined) {
    throw new UnusableOperation(`Its query string is ${type ?? 'not described'}, and only forms are supported.`)
  }
  const { schema } = context.reader.flatten(media.schema)
  const required = toList(schema.required)
  return objectEntries(schema.properties).map(([name, member]) => {
    const parameter = { name, place: 'query', node: { schema: member, required: required.includes(name) } } as const
    const written = writeValue(parameter, 'query', context)
    return writePair(name, written.text, written.style, written.kind)
  })
}

/** Writes one parameter into its part of the request. */
const writeParameter = (
  parameter: Parameter,
  parts: Parts,
  context: OperationContext & { expressions: readonly PathExpression[] },
): void => {
  const { name, place } = parameter
  if (place === 'querystring') {
    parts.query.push(...writeQueryString(parameter, context))
    return
  }
  const refusal = place === 'header' ? refuseHeader(name) : undefined
  if (refusal !== undefined) {
    if (refusal !== '') context.note(refusal)
    return
  }
  const expression = place === 'path' ? findExpression(name, context.expressions) : undefined
  const written = writeValue(parameter, place, context, expression?.keepsSlashes)
  if (place === 'path') parts.path.set(expression?.name ?? name, writeInPath(name, written))
  else if (place === 'query') parts.query.push(writePair(name, written.text, written.style, written.kind))
  else if (place === 'header') parts.headers.push({ name, value: written.text })
  else parts.cookies.push(writeCookie(name, written))
}

/**
 * Finds the expression of a path parameter, whose name may have the same signs. Some descriptions declare path parameters
 * for all operations of a kind, also where the path has none.
 */
const findExpression = (parameter: string, expressions: readonly PathExpression[]): PathExpression | undefined =>
  expressions.find(({ name }) => name === readExpression(parameter).name)

/** Returns the names in the query of a path. Some descriptions have one there, and describe it as parameters again. */
const namesInQuery = (path: string): ReadonlySet<string> =>
  new Set(new URLSearchParams(path.split('?').slice(1).join('&')).keys())

/** Writes the parameters of an operation. Those that can keep their names are written first, so that they do. */
export const writeParameters = (
  nodes: readonly JsonValue[],
  path: string,
  context: OperationContext,
): WrittenParameters => {
  const fixed = namesInQuery(path)
  const expressions = listExpressions(path)
  const all = listParameters(nodes, context).filter(({ place, name }) => {
    if (place === 'query') return !fixed.has(name)
    return place !== 'path' || findExpression(name, expressions) !== undefined
  })
  const ordered = all.toSorted((one, other) => Number(isParameterName(other.name)) - Number(isParameterName(one.name)))
  const parts: Parts = { path: new Map(), query: [], headers: [], cookies: [] }
  for (const parameter of ordered) writeParameter(parameter, parts, { ...context, expressions })
  return parts
}
