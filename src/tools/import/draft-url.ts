import type { ParameterType } from '../../templates/template.ts'
import { decodeFormText, percentDecode } from './curl-url.ts'
import type { DraftParameters, IsSecret } from './draft-parameters.ts'
import { type Piece, textPiece } from './template-pieces.ts'
import { createNames, hasVariables, mapLiterals, onlyVariable, toSnakeCase } from './variable-marks.ts'

/**
 * A value of the URL that could be a parameter. `index` is that of its segment in the path or of its pair in the query,
 * from 0 on. `value` is decoded.
 */
export type CandidateParameter = {
  place: 'path' | 'query'
  index: number
  name: string
  value: string
  suggestedType: ParameterType
}

export type DraftUrl = {
  /** The URL up to the path. A value that is a secret elsewhere is not replaced here, where it would decide the host. */
  origin: readonly Piece[]
  pathAndQuery: readonly Piece[]
  candidates: readonly CandidateParameter[]
  /** The segments of the path that say what it is about, for the name of the tool. */
  words: readonly string[]
  /** Whether the last segment identifies one object. */
  endsWithId: boolean
  notes: readonly string[]
}

const UUID = /^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i
/** How documentation writes a value to be filled in: `{id}`, `<id>` or `:id`. */
const FILLED_IN = /^(?:\{([A-Za-z]\w{0,60})\}|<([A-Za-z][\w-]{0,60})>|:([A-Za-z]\w{0,60}))$/

/** An id with the kind of its object in front, such as `cus_9s6XKzkNRiz8i3`. */
const PREFIXED_ID = /^[a-z]{2,6}_(?=[A-Za-z]{0,64}\d)[A-Za-z0-9]{8,64}$/

export const isId = (segment: string): boolean =>
  /^\d{1,32}$|^[0-9a-f]{16,128}$/i.test(segment) || UUID.test(segment) || PREFIXED_ID.test(segment)

/** Suggests the type of a value. A number with leading zeros, or too large to be exact, stays a string. */
export const suggestType = (value: string): ParameterType => {
  if (/^(?:true|false)$/.test(value)) return 'boolean'
  if (/^-?(?:0|[1-9]\d{0,14})$/.test(value)) return 'integer'
  return /^-?(?:0|[1-9]\d{0,9})\.\d{1,9}$/.test(value) ? 'number' : 'string'
}

/** Returns the singular of an English plural, for names. */
export const singular = (word: string): string => {
  if (/[^aeiou]ies$/.test(word)) return `${word.slice(0, -3)}y`
  if (/(?:ss|x|ch|sh)es$/.test(word)) return word.slice(0, -2)
  return /[^s]s$/.test(word) && !/(?:us|is)$/.test(word) ? word.slice(0, -1) : word
}

/** Words of a path that say nothing about what it is for. */
const EMPTY_WORDS = /^(?:v\d{1,3}(?:\.\d{1,3})?|api|rest|\d{4}-\d{2}-\d{2})$/i

/** Returns a segment of the path without its matrix parameters, such as `tiles` for `tiles;zoom=12`. */
const withoutMatrix = (segment: string): string => percentDecode(segment.split(';', 1)[0] ?? '')

const splitUrl = (url: string): { scheme: string; authority: string; path: string; query: string | undefined } => {
  const [, scheme = ''] = /^(https?:\/\/)/.exec(url) ?? []
  const rest = url.slice(scheme.length)
  const end = scheme === '' ? url.indexOf('\0', 1) + 1 : rest.search(/[/?]/)
  const authority = end === -1 ? rest : rest.slice(0, end)
  const after = rest.slice(authority.length)
  const question = after.indexOf('?')
  return question === -1
    ? { scheme, authority, path: after, query: undefined }
    : { scheme, authority, path: after.slice(0, question), query: after.slice(question + 1) }
}

/** Returns the part of a host that names its owner, such as `example` for `api.example.com`. */
const wordsOfHost = (authority: string): readonly string[] => {
  const [host = ''] = authority.split(':', 1)
  if (hasVariables(authority) || /^[\d.]*$|^\[/.test(host)) return []
  const labels = host.split('.')
  const owner = labels.length === 1 ? labels[0] : labels.slice(0, -1).findLast(label => !/^(?:www|api)$/.test(label))
  return owner === undefined ? [] : [owner]
}

/** A variable in a host must be a whole label. Otherwise the URL starts with a parameter for everything up to the path. */
const draftOrigin = (scheme: string, authority: string, parameters: DraftParameters) => {
  if (!hasVariables(authority)) return { pieces: [textPiece(scheme + authority)], notes: [] }
  const colon = authority.lastIndexOf(':')
  const host = colon === -1 ? authority : authority.slice(0, colon)
  const labels = host.split('.')
  const isWritable =
    scheme !== '' &&
    !hasVariables(authority.slice(host.length)) &&
    labels.every(label => !hasVariables(label) || onlyVariable(label) !== undefined) &&
    labels.some(label => !hasVariables(label))
  if (isWritable) return { pieces: [textPiece(scheme), ...parameters.withVariables(authority)], notes: [] }
  const variable = onlyVariable(authority)
  const name = variable === undefined ? parameters.nameFor('base_url') : parameters.variable(variable, 'url').name
  const piece: Piece = { kind: 'parameter', name, type: 'url' }
  return {
    pieces: [piece],
    notes:
      variable !== undefined && parameters.hasPlaceholder(variable)
        ? []
        : [`The parameter ${name} is the start of the URL, such as https://api.example.com.`],
  }
}

/** A segment of the path or a pair of the query. */
type Drafted = {
  pieces: readonly Piece[]
  candidate: Omit<CandidateParameter, 'suggestedType'> | undefined
  isHidden: boolean
}

type Drafting = { parameters: DraftParameters; isSecret: IsSecret }

const draftSegment = (segments: readonly string[], index: number, { parameters, isSecret }: Drafting): Drafted => {
  const raw = segments[index] ?? ''
  const decoded = mapLiterals(raw, percentDecode)
  const before = segments[index - 1] ?? ''
  const pieces = parameters.value({ place: 'path', name: before, raw, decoded })
  if (hasVariables(raw)) return { pieces, candidate: undefined, isHidden: false }
  if (raw !== '' && isSecret('path', before, decoded)) return { pieces, candidate: undefined, isHidden: true }
  const filledIn = FILLED_IN.exec(decoded)
    ?.slice(1)
    .find(name => name !== undefined)
  const owner = isId(before) ? '' : singular(toSnakeCase(before, ''))
  const name = filledIn ?? (owner === '' ? 'id' : `${owner}_id`)
  const isCandidate = filledIn !== undefined || isId(decoded)
  return {
    pieces,
    candidate: isCandidate ? { place: 'path', index, name, value: decoded } : undefined,
    isHidden: false,
  }
}

const draftPair = (pair: string, index: number, { parameters, isSecret }: Drafting): Drafted => {
  const equals = pair.indexOf('=')
  if (equals === -1) return { pieces: parameters.withVariables(pair), candidate: undefined, isHidden: false }
  const raw = pair.slice(equals + 1)
  const name = decodeFormText(pair.slice(0, equals))
  const value = decodeFormText(raw)
  const isHidden = raw !== '' && isSecret('query', name, value)
  return {
    pieces: [
      ...parameters.withVariables(pair.slice(0, equals + 1)),
      ...parameters.value({ place: 'query', name, raw, decoded: value }),
    ],
    candidate: isHidden || hasVariables(pair) ? undefined : { place: 'query', index, name, value },
    isHidden,
  }
}

/** Gives candidates unique names, and types. */
const nameCandidates = (drafted: readonly Drafted[]): readonly CandidateParameter[] => {
  const unique = createNames()
  return drafted.flatMap(({ candidate }) =>
    candidate === undefined
      ? []
      : [
          {
            ...candidate,
            name: unique(toSnakeCase(candidate.name, 'value')),
            suggestedType: suggestType(candidate.value),
          },
        ],
  )
}

export const draftUrl = (url: string, parameters: DraftParameters, isSecret: IsSecret): DraftUrl => {
  const { scheme, authority, path, query } = splitUrl(url)
  const drafting = { parameters, isSecret }
  const origin = draftOrigin(scheme, authority, parameters)
  const segments = path.split('/').slice(1)
  const inPath = segments.map((_, index) => draftSegment(segments, index, drafting))
  const inQuery = query === undefined ? [] : query.split('&').map((pair, index) => draftPair(pair, index, drafting))
  const words = segments.flatMap((segment, index) => {
    const drafted = inPath[index]
    const isFixed = drafted?.candidate === undefined && drafted?.isHidden === false && !hasVariables(segment)
    const word = withoutMatrix(segment)
    return isFixed && word !== '' && !EMPTY_WORDS.test(word) ? [word] : []
  })
  const last = segments.findLastIndex(segment => segment !== '')
  return {
    origin: origin.pieces,
    pathAndQuery: [
      ...inPath.flatMap(({ pieces }) => [textPiece('/'), ...pieces]),
      ...inQuery.flatMap(({ pieces }, index) => [textPiece(index === 0 ? '?' : '&'), ...pieces]),
    ],
    candidates: nameCandidates([...inPath, ...inQuery]),
    words: words.length > 0 ? words : wordsOfHost(authority),
    endsWithId: last !== -1 && (inPath[last]?.candidate !== undefined || hasVariables(segments[last] ?? '')),
    notes: origin.notes,
  }
}
