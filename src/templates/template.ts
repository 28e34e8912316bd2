import type { JsonValue } from '../lib/kernel/json.ts'
import type { Result } from '../lib/kernel/result.ts'

export const PARAMETER_TYPES = ['string', 'integer', 'number', 'boolean', 'json', 'url'] as const
export type ParameterType = (typeof PARAMETER_TYPES)[number]

/**
 * Ways to serialize the value of a placeholder, as in `{{json:tags | repeat}}`. All are for arrays or objects (RFC 6570,
 * OpenAPI 3.1.1 "Style Values"), except for `segments`, which is for strings.
 */
export const SERIALIZATIONS = [
  'repeat',
  'comma',
  'space',
  'tab',
  'pipe',
  'dot',
  'brackets',
  'spread',
  'segments',
] as const
export type Serialization = (typeof SERIALIZATIONS)[number]

/**
 * Versions of the rules by which values are encoded. 2 encodes them in XML, multipart bodies and cookies, where 1 sends
 * them as they are. A tool keeps the version under which it was last saved.
 */
export const TEMPLATE_RULES = [1, 2] as const
export type TemplateRules = (typeof TEMPLATE_RULES)[number]
export const NEWEST_RULES: TemplateRules = 2

/**
 * A request as written by a builder. The URL, header values and body may contain `{{type:name}}`. `\{{` is a literal
 * pair of braces. An empty body means that no body is sent.
 */
export type RequestTemplate = {
  method: string
  url: string
  headers: readonly { name: string; value: string }[]
  body?: string | undefined
  /** The rules that the template was saved under. Undefined means the newest. */
  templateRules?: TemplateRules | undefined
}

/** The position of a placeholder. Lines and columns in the field's text start at 1, and columns count UTF-16 units. */
export type Place = {
  kind:
    | 'base'
    | 'host'
    | 'path'
    | 'query'
    | 'header'
    | 'cookie'
    | 'json'
    | 'json-string'
    | 'form'
    | 'xml'
    | 'xml-document'
    | 'multipart'
    | 'text'
  /**
   * Name of the query parameter, header, cookie, form field or part, JSON member, or XML element or attribute that
   * contains the placeholder. For an item of a JSON array, the name of the array. Undefined in the path, in text, and
   * in places without a name.
   */
  name?: string | undefined
  /** The field: `url`, `headers[0].value` or `body`. */
  field: string
  line: number
  column: number
  /** Undefined if the value is rendered as a single text. */
  serialization?: Serialization
}

export type TemplateParameter = {
  name: string
  type: ParameterType
  /** False if every placeholder for the parameter is optional, or if the parameter has a default. */
  required: boolean
  /** The default from `{{type:name=default}}`, cast to the parameter's type. */
  default?: JsonValue
  places: readonly Place[]
}

/** An error in a template. `field` is a field that may contain placeholders, `headers[0].name` or `method`. */
export type TemplateError = { field: string; line: number; column: number; message: string }

export type BodyKind = 'none' | 'json' | 'form' | 'xml' | 'multipart' | 'text'

export type RenderedRequest = {
  method: string
  /** Absolute http or https URL, without credentials or fragment. */
  url: string
  /**
   * Headers with their names as written by the builder. Includes a Content-Type if there is a body and the builder set
   * none.
   */
  headers: readonly (readonly [name: string, value: string])[]
  /** Also undefined if the body is a single optional value and that value is missing. */
  body: string | undefined
}

/** A rendering error. `message` follows the parameter's name, as in `is required`, and never contains the value. */
export type RenderError = { parameter: string; message: string }

/** Values by parameter name, cast to the parameters' types. Missing values have no entry, so that defaults apply. */
export type Values = ReadonlyMap<string, JsonValue>

/** A parsed template. `render` is pure and can be called any number of times. */
export type CompiledTemplate = {
  /** Upper case. */
  method: string
  bodyKind: BodyKind
  /** Parameters in order of first appearance in the URL, headers and body. */
  parameters: readonly TemplateParameter[]
  /** `fixed` if the template's text determines the origin, `open` if parameters do (a `url` base or host labels). */
  origin: { kind: 'fixed'; origin: string } | { kind: 'open'; parameters: readonly string[] }
  render: (values: Values) => Result<RenderedRequest, RenderError>
}
