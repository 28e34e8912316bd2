import { failure, type Result, success } from '../lib/kernel/result.ts'
import { type BodyPlan, planBody } from './body-template.ts'
import { planHeader, refuseHeaderName } from './header-template.ts'
import {
  MAX_HEADER_TEMPLATE_CHARS,
  MAX_METHOD_CHARS,
  MAX_PARAMETERS,
  MAX_TEMPLATE_ERRORS,
  MAX_TEMPLATE_HEADERS,
  MAX_URL_TEMPLATE_CHARS,
} from './limits.ts'
import { collectParameters } from './parameters.ts'
import type { Field } from './plan.ts'
import { buildField, createRenderer, type HeaderParts } from './render.ts'
import { scanTemplate } from './scan.ts'
import {
  type BodyKind,
  type CompiledTemplate,
  NEWEST_RULES,
  type RenderError,
  type RequestTemplate,
  type TemplateError,
  type TemplateParameter,
  type TemplateRules,
  type Values,
} from './template.ts'
import { planUrl, type UrlPlan } from './url-template.ts'

/** Matches every method in use. No method in IANA's registry has digits. RFC 9110 would even allow `GET|ID`. */
const METHOD = /^[A-Z][A-Z-]*$/i

type HeaderField = Field & { name: string }

const errorAtStart = (field: string, message: string): TemplateError => ({ field, line: 1, column: 1, message })

const errorsOf = ({ field, scan, plan }: Field): readonly TemplateError[] => {
  const faults = scan.isCut ? scan.faults : [...scan.faults, ...plan.faults]
  return faults.map(({ offset, message }) => ({ field, ...scan.locate(offset), message }))
}

const readUrl = (text: string): Field & { plan: UrlPlan } => {
  const scan = scanTemplate(text, { pairs: 'halve', maxChars: MAX_URL_TEMPLATE_CHARS })
  return { field: 'url', scan, plan: planUrl(scan) }
}

const readHeaders = (headers: RequestTemplate['headers'], rules: TemplateRules): readonly HeaderField[] =>
  headers.map(({ name, value }, index) => {
    const scan = scanTemplate(value, { pairs: 'halve', maxChars: MAX_HEADER_TEMPLATE_CHARS })
    return { name, field: `headers[${index}].value`, scan, plan: planHeader(name, scan, rules) }
  })

const isContentType = ({ name }: { name: string }): boolean => name.toLowerCase() === 'content-type'

const readBody = (
  body: string | undefined,
  headers: readonly HeaderField[],
  rules: TemplateRules,
  secrets: ReadonlySet<string>,
): BodyPlan | undefined => {
  if (body === undefined || body === '') return undefined
  const contentType = headers.find(isContentType)?.scan
  // A Content-Type with a placeholder is rejected elsewhere. The body is then read as if there were no Content-Type.
  return planBody(body, contentType?.places.length === 0 ? contentType.holed : undefined, rules, secrets)
}

/** The Content-Type must be fixed, because it decides the kind of the body and so how values are encoded. */
const checkContentType = (headers: readonly HeaderField[]): readonly TemplateError[] => {
  const header = headers.find(isContentType)
  const [place] = header?.scan.places ?? []
  if (header === undefined || place === undefined) return []
  const message = 'the Content-Type of a body cannot contain a placeholder. Write the type out'
  return [{ field: header.field, ...header.scan.locate(place.offset), message }]
}

/** Validates the method. Ignores case, because the Fetch standard normalizes methods. */
const checkMethod = (method: string): readonly TemplateError[] => {
  if (method.includes('{{'))
    return [errorAtStart('method', 'the method cannot contain a placeholder. Write the method out')]
  if (method.length > MAX_METHOD_CHARS || !METHOD.test(method))
    return [errorAtStart('method', 'this is not an HTTP method. Use GET, POST, PUT, …')]
  return ['CONNECT', 'TRACE', 'TRACK'].includes(method.toUpperCase())
    ? [errorAtStart('method', `the method ${method} is not allowed`)]
    : []
}

const checkHeaders = (headers: RequestTemplate['headers']): readonly TemplateError[] => {
  const firstContentType = headers.findIndex(isContentType)
  const names = headers.flatMap((header, index) => {
    const again = isContentType(header) && index !== firstContentType
    const problem = again ? 'there is already a Content-Type header. Remove one of them' : refuseHeaderName(header.name)
    return problem === undefined ? [] : [errorAtStart(`headers[${index}].name`, problem)]
  })
  const tooMany = `more than ${MAX_TEMPLATE_HEADERS} headers`
  return headers.length > MAX_TEMPLATE_HEADERS
    ? [...names, errorAtStart(`headers[${MAX_TEMPLATE_HEADERS}].name`, tooMany)]
    : names
}

/** Recipients join headers with the same name, so a value of `spread` could repeat a key of the other one. */
const checkSpreads = (headers: readonly HeaderField[]): readonly TemplateError[] => {
  const byName = Map.groupBy(headers, ({ name }) => name.toLowerCase())
  return [...byName.values()]
    .filter(({ length }) => length > 1)
    .flatMap(same =>
      same.flatMap(({ name, field, scan }) =>
        scan.places
          .filter(({ serialization }) => serialization === 'spread')
          .map(({ offset }) => {
            const message = `there is another ${name} header, which could have the same keys. Put both into one, or do not use "spread"`
            return { field, ...scan.locate(offset), message }
          }),
      ),
    )
}

/** Builds the headers. If they have no placeholders, builds them only once. */
const buildHeaders = (
  headers: readonly HeaderField[],
  parameters: ReadonlyMap<string, TemplateParameter>,
): HeaderParts => {
  if (headers.every(({ scan }) => scan.places.length === 0)) {
    return { kind: 'fixed', headers: headers.map(({ name, scan }) => [name, scan.holed]) }
  }
  return { kind: 'open', headers: headers.map(header => ({ name: header.name, part: buildField(header, parameters) })) }
}

const originOf = ({ scan, plan }: Field & { plan: UrlPlan }): CompiledTemplate['origin'] => {
  if (plan.fixedOrigin !== undefined) return { kind: 'fixed', origin: plan.fixedOrigin }
  const decides = scan.places.filter((_, index) => ['base', 'host'].includes(plan.holes[index]?.kind ?? ''))
  return { kind: 'open', parameters: [...new Set(decides.map(place => place.name))] }
}

const NO_SECRETS: ReadonlySet<string> = new Set()

const readFields = (template: RequestTemplate, secrets = NO_SECRETS) => {
  const method = template.method.toUpperCase()
  const url = readUrl(template.url)
  const rules = template.templateRules ?? NEWEST_RULES
  const headers = readHeaders(template.headers, rules)
  const bodyPlan = readBody(template.body, headers, rules, secrets)
  const body = bodyPlan && { field: 'body', scan: bodyPlan.scan, plan: bodyPlan.plan }
  const fields = [url, ...headers, ...(body === undefined ? [] : [body])]
  const { parameters, errors } = collectParameters(fields)
  const all = [
    ...checkMethod(template.method),
    ...checkHeaders(template.headers),
    ...checkSpreads(headers),
    ...(body === undefined ? [] : checkContentType(headers)),
    ...fields.flatMap(errorsOf),
    ...(body !== undefined && method === 'HEAD'
      ? [errorAtStart('body', 'a HEAD request cannot have a body. Remove the body')]
      : []),
    ...errors,
  ]
  return { method, url, headers, body, bodyPlan, parameters, errors: all.slice(0, MAX_TEMPLATE_ERRORS) }
}

/** Reads a template that is still being edited. Returns its errors, and as many parameters as are allowed. */
export const readTemplate = (
  template: RequestTemplate,
): { parameters: readonly TemplateParameter[]; bodyKind: BodyKind; errors: readonly TemplateError[] } => {
  const { parameters, bodyPlan, errors } = readFields(template)
  return { parameters: parameters.slice(0, MAX_PARAMETERS), bodyKind: bodyPlan?.kind ?? 'none', errors }
}

/**
 * Parses a template. Returns all errors with their positions, up to 100. `secrets` are the parameters that are bound to
 * secrets, which a multipart body does not search for its boundary.
 */
export const compileTemplate = (
  template: RequestTemplate,
  secrets?: ReadonlySet<string>,
): Result<CompiledTemplate, readonly TemplateError[]> => {
  const { method, url, headers, body, bodyPlan, parameters, errors } = readFields(template, secrets)
  if (errors.length > 0) return failure(errors)

  const byName = new Map(parameters.map(parameter => [parameter.name, parameter]))
  return success({
    method,
    bodyKind: bodyPlan?.kind ?? 'none',
    parameters,
    origin: originOf(url),
    render: createRenderer({
      method,
      url: buildField(url, byName),
      headers: buildHeaders(headers, byName),
      body: body && buildField(body, byName),
      contentType: bodyPlan?.contentType ?? '',
    }),
  })
}

/** Returns the parameters whose values are not allowed in one of their positions, and why. Ignores missing values. */
export const refusedValues = (template: RequestTemplate, values: Values): readonly RenderError[] => {
  const { url, headers, body } = readFields(template)
  const refusals = [url, ...headers, ...(body === undefined ? [] : [body])].flatMap(({ scan, plan }) =>
    scan.places.flatMap(({ name, optional }, index): RenderError[] => {
      const value = values.get(name)
      const hole = plan.holes[index]
      if (value === undefined || hole === undefined) return []
      if (hole.isEmpty?.(value)) return optional ? [] : [{ parameter: name, message: 'must not be empty' }]
      return hole.encode(value) === undefined ? [{ parameter: name, message: hole.refusal }] : []
    }),
  )
  return [...new Map(refusals.map(refusal => [refusal.parameter, refusal])).values()]
}
