import type { JsonValue } from '../lib/kernel/json.ts'
import type { Result } from '../lib/kernel/result.ts'

export const PARAMETER_TYPES = ['string', 'integer', 'number', 'boolean', 'json', 'url'] as const
export type ParameterType = (typeof PARAMETER_TYPES)[number]

/**
 * A request as a builder writes it. URL, header values and body may contain `{{type:name}}`; `\{{`
 * is a literal pair of braces. An empty body means no body.
 */
export type RequestTemplate = {
  method: string
  url: string
  headers: readonly { name: string; value: string }[]
  body?: string | undefined
}

/** The position of a placeholder; lines and columns (UTF-16 units) in the field's text start at 1. */
export type Place = {
  kind: 'base' | 'host' | 'path' | 'query' | 'header' | 'json' | 'json-string' | 'form' | 'text'
  /** `url`, `headers[0].value` or `body`. */
  field: string
  line: number
  column: number
}

export type TemplateParameter = {
  name: string
  type: ParameterType
  /** False if every placeholder is optional or the parameter has a default. */
  required: boolean
  /** From `{{type:name=default}}`, cast to the parameter's type. */
  default?: JsonValue
  places: readonly Place[]
}

/** An error in a template. `field` is the field of a placeholder, `headers[0].name` or `method`. */
export type TemplateError = { field: string; line: number; column: number; message: string }

export type BodyKind = 'none' | 'json' | 'form' | 'text'

export type RenderedRequest = {
  method: string
  /** Absolute http or https URL, without credentials or fragment. */
  url: string
  /** Names as written by the builder, plus a Content-Type for the body if there is none. */
  headers: readonly (readonly [name: string, value: string])[]
  /** Undefined also if the body is one optional value that is missing. */
  body: string | undefined
}

/** `message` follows the parameter's name, as in `is required`, and never contains its value. */
export type RenderError = { parameter: string; message: string }

/** Values by parameter name, cast to their types. Missing values are absent, so that defaults apply. */
export type Values = ReadonlyMap<string, JsonValue>

/** A parsed template; `render` is pure and can be called any number of times. */
export type CompiledTemplate = {
  /** Upper case. */
  method: string
  bodyKind: BodyKind
  /** By first appearance: URL, headers, body. */
  parameters: readonly TemplateParameter[]
  /** `fixed` if the template's text sets the origin; `open` if parameters decide it (a `url` base or host labels). */
  origin: { kind: 'fixed'; origin: string } | { kind: 'open'; parameters: readonly string[] }
  render: (values: Values) => Result<RenderedRequest, RenderError>
}
