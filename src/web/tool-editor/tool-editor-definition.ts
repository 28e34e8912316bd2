import type { FieldError } from '../../lib/kernel/errors.ts'
import { describeJsonFault, findJsonFault } from '../../lib/kernel/json-fault.ts'
import { readNumber } from '../../lib/kernel/whole-number.ts'
import { kindOf } from '../../templates/body-template.ts'
import { readTemplate } from '../../templates/compile.ts'
import type { Tool, ToolAnnotations, ToolDefinition } from '../../tools/tool.ts'
import { toToolName } from '../../tools/tool-names.ts'
import { CreateTool } from '../../tools/toolkits.schema.ts'
import { linesOf } from '../frame/lines-of.ts'
import { maskPlaceholders } from './mask-placeholders.ts'
import { readResponse, readTypedNumber } from './response-rules-form.ts'
import type { HeaderLine } from './tool-editor-errors.ts'
import type { ToolForm } from './tool-editor-form.ts'
import { readMetas } from './tool-editor-parameters.ts'
import { readTypedSchema } from './typed-schema.ts'

type Headers = { headers: { name: string; value: string }[]; lines: HeaderLine[]; errors: FieldError[] }

/** More lines than a tool may have headers, so that the template check can report the excess. */
const MAX_HEADER_LINES = 200

/** Parses one `Name: value` per line and ignores empty lines. Takes linear time, because it runs on every key press. */
const readHeaders = (text: string): Headers => {
  const read: Headers = { headers: [], lines: [], errors: [] }
  const lines = text.split('\n').map((line, index) => ({ line, number: index + 1 }))
  for (const { line, number } of lines.filter(one => one.line.trim() !== '').slice(0, MAX_HEADER_LINES)) {
    const colon = line.indexOf(':')
    const name = line.slice(0, Math.max(colon, 0)).trim()
    if (name === '') {
      read.errors.push({ path: 'headers', message: `line ${number}, column 1: write Name: value` })
      continue
    }
    const rest = line.slice(colon + 1)
    const value = rest.trim()
    read.headers.push({ name, value })
    read.lines.push({ line: number, valueColumn: colon + 2 + rest.length - rest.trimStart().length })
  }
  return read
}

const HINT_VALUES: ReadonlyMap<string, boolean> = new Map([
  ['yes', true],
  ['no', false],
])
const ANNOTATIONS = ['readOnlyHint', 'destructiveHint', 'idempotentHint', 'openWorldHint'] as const

/** Overrides stored annotations with those in the form. Keeps all other annotations, such as the title. */
const readAnnotations = (form: ToolForm, stored: ToolAnnotations = {}): ToolAnnotations | undefined => {
  const { readOnlyHint, destructiveHint, idempotentHint, openWorldHint, ...rest } = stored
  const chosen = ANNOTATIONS.flatMap(hint => {
    const value = HINT_VALUES.get(form[hint])
    return value === undefined ? [] : [[hint, value] as const]
  })
  const annotations: ToolAnnotations = { ...rest, ...Object.fromEntries(chosen) }
  return Object.keys(annotations).length === 0 ? undefined : annotations
}

const undefinedIfBlank = (text: string): string | undefined => (text.trim() === '' ? undefined : text)

/** Returns the body. Lines of a multipart body end in CRLF (RFC 2046 §4.1.1), which text fields do not keep. */
const readBody = (text: string, headers: Headers['headers']): string | undefined => {
  const type = headers.find(({ name }) => name.toLowerCase() === 'content-type')
  const isMultipart = type !== undefined && kindOf(type.value) === 'multipart'
  return undefinedIfBlank(isMultipart ? text.replaceAll('\n', '\r\n') : text)
}

/** Returns a warning if the body looks like JSON but is invalid and will therefore be sent as text. */
const warnOfInvalidJson = (body: string, bodyKind: string): string | undefined => {
  if (bodyKind !== 'text' || !/^\s*[{[]/.test(body)) return undefined
  const fault = findJsonFault(maskPlaceholders(body))
  return fault && `Sent as text because it is not valid JSON: ${describeJsonFault(fault)}.`
}

const readPagination = ({ cursorParameter, cursorPath }: ToolForm): ToolDefinition['pagination'] => {
  const pagination = { parameter: cursorParameter.trim(), at: cursorPath.trim() }
  return pagination.parameter === '' && pagination.at === '' ? undefined : pagination
}

/** Reads as much of the tool from the form as possible, and returns it with all errors. */
export const readToolForm = (form: ToolForm, stored: Tool | undefined) => {
  const { headers, lines, errors: headerErrors } = readHeaders(form.headers)
  const body = readBody(form.body, headers)
  const url = form.url.trim()
  const template = readTemplate({ method: form.method, url, headers, body })
  const { metas, errors: metaErrors } = readMetas(template.parameters, form.parameters, stored)
  const timeout = readTypedNumber(CreateTool.shape.timeoutMs, 'timeoutMs', form.timeoutMs)
  const retries = readTypedNumber(CreateTool.shape.retries, 'retries', form.retries)
  const price = readTypedNumber(CreateTool.shape.callPrice, 'callPrice', form.callPrice, readNumber)
  const cache = readTypedNumber(CreateTool.shape.cacheSeconds, 'cacheSeconds', form.cacheSeconds)
  const input = readTypedSchema('inputSchema', form.inputSchema)
  const output = readTypedSchema('outputSchema', form.outputSchema)
  const { response, errors: responseErrors } = readResponse(form)
  const origins = linesOf(form.allowedOrigins)
  const templateErrors = template.errors
    .filter(({ field }) => field !== 'url' || url !== '')
    .map(({ field, line, column, message }) => ({
      path: field,
      message: `line ${line}, column ${column}: ${message}`,
    }))
  const definition: ToolDefinition = {
    name: toToolName(form.name),
    title: undefinedIfBlank(form.title.trim()),
    description: undefinedIfBlank(form.description.trim()),
    method: form.method.trim().toUpperCase(),
    url,
    headers,
    body,
    timeoutMs: timeout.number,
    retries: retries.number,
    callPrice: price.number,
    parameters: metas,
    inputSchema: input.schema,
    outputSchema: output.schema,
    annotations: readAnnotations(form, stored?.annotations),
    allowedOrigins: origins.length === 0 ? undefined : origins,
    cacheSeconds: cache.number,
    cacheShared: cache.number !== undefined && form.cacheShared === 'yes' ? true : undefined,
    response,
    pagination: readPagination(form),
  }
  return {
    definition,
    template,
    /** Those of `errors` that do not keep the tool from being saved. */
    templateErrors,
    /** Errors in the form and in its template. */
    errors: [
      ...templateErrors,
      ...headerErrors,
      ...metaErrors,
      ...timeout.errors,
      ...retries.errors,
      ...price.errors,
      ...cache.errors,
      ...input.errors,
      ...output.errors,
    ],
    /** Errors in the response rules, which do not prevent a preview of the request. */
    responseErrors,
    /** Position of each header within the text of the headers field. */
    headerLines: lines,
    bodyWarning: warnOfInvalidJson(form.body, template.bodyKind),
  }
}
export type ReadForm = ReturnType<typeof readToolForm>
