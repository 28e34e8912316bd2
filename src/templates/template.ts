import type { JsonValue } from '../lib/kernel/json.ts'
import type { Result } from '../lib/kernel/result.ts'

export const PARAMETER_TYPES = ['string', 'integer', 'number', 'boolean', 'json', 'url'] as const
export type ParameterType = (typeof PARAMETER_TYPES)[number]

/**
 * What a builder writes. URL, header values and body may hold `{{type:name}}` places; `\{{` is a literal brace pair.
 * An empty body is none.
 */
export type RequestTemplate = {
  method: string
  url: string
  headers: readonly { name: string; value: string }[]
  body?: string | undefined
}

/** Where a place stands; lines and columns (UTF-16 units) count from 1, in `field`'s own text. */
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
  /** False when every place of it is optional or it has a default. */
  required: boolean
  /** From `{{type:name=default}}`, cast to its type. */
  default?: JsonValue
  places: readonly Place[]
}

/** One thing that keeps a template from being saved. `field` is one of a place's, `headers[0].name` or `method`. */
export type TemplateError = { field: string; line: number; column: number; message: string }

export type BodyKind = 'none' | 'json' | 'form' | 'text'

export type RenderedRequest = {
  method: string
  /** Absolute, http or https, without credentials or fragment. */
  url: string
  /** Names as the builder wrote them; a Content-Type that the body's kind implies is added. */
  headers: readonly (readonly [name: string, value: string])[]
  /** None either when all of it is one optional value that is missing. */
  body: string | undefined
}

/** `message` goes after the parameter's name, `is required` or `must be …`, and never shows its value. */
export type RenderError = { parameter: string; message: string }

/** Values by parameter name, already cast to their types. A missing one is absent: a place's own default fills in. */
export type Values = ReadonlyMap<string, JsonValue>

/** A template parsed once; `render` is pure and may be called any number of times, with whatever values. */
export type CompiledTemplate = {
  /** In upper case. */
  method: string
  bodyKind: BodyKind
  /** In the order of their first places: URL, headers, body. */
  parameters: readonly TemplateParameter[]
  /**
   * `fixed`: the builder's own text says the origin. `open`: these parameters decide it (a `url` base or host labels).
   */
  origin: { kind: 'fixed'; origin: string } | { kind: 'open'; parameters: readonly string[] }
  render: (values: Values) => Result<RenderedRequest, RenderError>
}
