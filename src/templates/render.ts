import type { JsonValue } from '../lib/kernel/json.ts'
import { failure, type Result, success } from '../lib/kernel/result.ts'
import { MAX_RENDERED_BODY_CHARS, MAX_RENDERED_LINE_CHARS } from './limits.ts'
import { canBeMissing, type Field, type Hole, maxCharsOf, type Part, type Rendered } from './plan.ts'
import { HOLE } from './scan.ts'
import type { RenderError, RenderedRequest, TemplateParameter, Values } from './template.ts'

/** Joins chunks of fixed text with a part between each two. Undefined as soon as one part is undefined. */
export const sequence = (chunks: readonly string[], parts: readonly Part[]): Part => {
  const [first = '', ...rest] = chunks
  const steps = parts.map((part, index) => ({ part, after: rest[index] ?? '' }))
  if (steps.length === 0) return () => first
  return (values, room) => {
    let text = first
    for (const { part, after } of steps) {
      const outcome = part(values, room - text.length)
      if (typeof outcome !== 'string') return outcome
      text += outcome + after
    }
    return text
  }
}

/** Builds text with holes. `firstPlace` is the index of its first placeholder. */
export const line = (holed: string, firstPlace: number, partOf: (place: number) => Part): Part => {
  const chunks = holed.split(HOLE)
  return sequence(
    chunks,
    chunks.slice(1).map((_, index) => partOf(firstPlace + index)),
  )
}

/** Joins the parts that are not undefined, between `open` and `close`. Returns `whenEmpty` if all are undefined. */
export const joined = (
  parts: readonly Part[],
  frame: { open: string; separator: string; close: string; whenEmpty: string | undefined },
): Part => {
  const { open, separator, close, whenEmpty } = frame
  return (values, room) => {
    let text: string | undefined
    for (const part of parts) {
      const outcome = part(values, room - (text?.length ?? 0))
      if (outcome === undefined) continue
      if (typeof outcome !== 'string') return outcome
      text = text === undefined ? open + outcome : text + separator + outcome
    }
    return text === undefined ? whenEmpty : text + close
  }
}

/** Returns the part that fills one placeholder: the encoded value, an error, or the result for a missing value. */
const fillPlace = (hole: Hole, name: string, fallback: JsonValue | undefined, optional: boolean): Part => {
  const { encode } = hole
  const refused = { parameter: name, message: hole.refusal }
  const tooLong = { parameter: name, message: `is too long (at most ${maxCharsOf(hole.kind)} characters in total)` }
  const missing: Rendered = optional ? hole.whenMissing : { parameter: name, message: 'is required' }
  const write = (value: JsonValue, room: number): Rendered => {
    // Encoding never shortens a text.
    if (typeof value === 'string' && value.length > room) return tooLong
    const text = encode(value)
    if (text === undefined) return refused
    return text.length > room ? tooLong : text
  }
  const { isEmpty } = hole
  if (isEmpty === undefined) {
    return (values, room) => {
      const given = values.get(name)
      const value = given === undefined ? fallback : given
      return value === undefined ? missing : write(value, room)
    }
  }
  const canBeEmpty = optional && canBeMissing(hole.kind)
  const empty: Rendered = canBeEmpty ? hole.whenMissing : { parameter: name, message: 'must not be empty' }
  return (values, room) => {
    const given = values.get(name)
    const value = given === undefined || isEmpty(given) ? fallback : given
    if (value === undefined) return given === undefined ? missing : empty
    return isEmpty(value) ? empty : write(value, room)
  }
}

/** Builds a field as a single part in which each placeholder is filled with its parameter's value or default. */
export const buildField = ({ scan, plan }: Field, parameters: ReadonlyMap<string, TemplateParameter>): Part =>
  plan.build(index => {
    const place = scan.places[index]
    const hole = plan.holes[index]
    if (place === undefined || hole === undefined) throw new RangeError(`no placeholder ${index}`)
    return fillPlace(hole, place.name, parameters.get(place.name)?.default, place.optional)
  })

type RenderedHeaders = RenderedRequest['headers']

export type HeaderParts =
  | { kind: 'fixed'; headers: RenderedHeaders }
  | { kind: 'open'; headers: readonly { name: string; part: Part }[] }

type RequestParts = {
  method: string
  url: Part
  headers: HeaderParts
  body: Part | undefined
  /** Content-Type to send if there is a body but no Content-Type header. */
  contentType: string
}

const withContentType = (headers: RenderedHeaders, contentType: string): RenderedHeaders =>
  headers.some(([name]) => name.toLowerCase() === 'content-type')
    ? headers
    : [...headers, ['content-type', contentType]]

/** Renders the headers. Adds a Content-Type if `hasBody` is true and there is none. */
type RenderHeaders = (values: Values, hasBody: boolean) => RenderedHeaders | RenderError

const headerRenderer = (parts: HeaderParts, contentType: string): RenderHeaders => {
  if (parts.kind === 'fixed') {
    const described = withContentType(parts.headers, contentType)
    return (_values, hasBody) => (hasBody ? described : parts.headers)
  }
  return (values, hasBody) => {
    const headers: (readonly [string, string])[] = []
    for (const { name, part } of parts.headers) {
      const value = part(values, MAX_RENDERED_LINE_CHARS)
      if (value === undefined) continue
      if (typeof value !== 'string') return value
      headers.push([name, value])
    }
    return hasBody ? withContentType(headers, contentType) : headers
  }
}

/** Creates the function that renders a template's requests. */
export const createRenderer = ({
  method,
  url: urlPart,
  headers: headerParts,
  body: bodyPart,
  contentType,
}: RequestParts) => {
  const renderHeaders = headerRenderer(headerParts, contentType)
  return (values: Values): Result<RenderedRequest, RenderError> => {
    // A missing optional value removes only its own query pair, so the URL is never undefined.
    const url = urlPart(values, MAX_RENDERED_LINE_CHARS) ?? ''
    if (typeof url !== 'string') return failure(url)
    const body = bodyPart?.(values, MAX_RENDERED_BODY_CHARS)
    if (typeof body === 'object') return failure(body)
    const headers = renderHeaders(values, body !== undefined)
    return 'parameter' in headers ? failure(headers) : success({ method, url, headers, body })
  }
}
