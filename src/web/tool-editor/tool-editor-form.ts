import { z } from 'zod'
import { formLines, formText, parseForm } from '../../lib/http/pages/forms.ts'
import { readTemplate } from '../../templates/compile.ts'
import type { Tool, ToolDefinition } from '../../tools/tool.ts'
import { RESPONSE_FIELDS, typedResponse } from './response-rules-form.ts'
import { editTemplate, TEMPLATE_FIELDS } from './template-edits.ts'
import { type ParameterTexts, textsOfMeta } from './tool-editor-parameters.ts'

/** Form fields that every tool has. */
const FIELDS = {
  name: formText,
  title: formText,
  description: formLines,
  method: formText,
  url: formText,
  headers: formLines,
  body: formLines,
  timeoutMs: formText,
  retries: formText,
  callPrice: formText,
  cacheSeconds: formText,
  cacheShared: formText,
  cursorParameter: formText,
  cursorPath: formText,
  allowedOrigins: formLines,
  inputSchema: formLines,
  outputSchema: formLines,
  readOnlyHint: formText,
  destructiveHint: formText,
  idempotentHint: formText,
  openWorldHint: formText,
  ...RESPONSE_FIELDS,
  /** ID of the stored response that is used to preview the response rules. */
  sample: formText,
  /** ID of the server whose bindings are used to try the tool. */
  serverId: formText,
  /** Time at which the opened version was saved, in milliseconds since 1970. */
  version: formText,
  toolkitTitle: formText,
  organizationId: formText,
  /** The open tab. */
  tab: formText,
}

/** The form as filled in, with line feeds as line breaks. */
export type ToolForm = Record<keyof typeof FIELDS, string> & {
  /** Fields by parameter name, including parameters that are no longer in the request. */
  parameters: ReadonlyMap<string, ParameterTexts>
  /** Values for trying the tool, by parameter. */
  values: ReadonlyMap<string, string>
  /** Fields whose text is not as it was sent, because other fields have changed the template. */
  rewritten: readonly (typeof TEMPLATE_FIELDS)[number][]
}

const Everything = z.record(z.string(), z.unknown()).catch({})

/** Matches field names such as `parameter:limit:description` and `value:limit`. Parameter names contain no colons. */
const PARAMETER_FIELD =
  /^parameter:([^:]+):(description|default|enum|example|minimum|maximum|pattern|schema|source|fixed|key)$/
const VALUE_FIELD = /^value:([^:]+)$/

/** Reads the submitted form. Never throws, because the input is validated later. */
export const parseToolForm = (body: unknown): ToolForm => {
  const parameters = new Map<string, ParameterTexts>()
  const values = new Map<string, string>()
  const sent = Everything.parse(typeof body === 'object' && body !== null ? { ...body } : {})
  for (const [field, text] of Object.entries(sent)) {
    if (typeof text !== 'string') continue
    const [, name, key] = PARAMETER_FIELD.exec(field) ?? []
    if (name !== undefined && key !== undefined) {
      parameters.set(name, { ...parameters.get(name), [key]: formLines.parse(text) })
    }
    const [, valueName] = VALUE_FIELD.exec(field) ?? []
    if (valueName !== undefined) values.set(valueName, formLines.parse(text))
  }
  const fields = parseForm(FIELDS, sent)
  const edited = editTemplate(fields, sent)
  const rewritten = TEMPLATE_FIELDS.filter(field => edited[field] !== fields[field])
  return { ...fields, ...edited, parameters, values, rewritten }
}

export const emptyToolForm = (): ToolForm => ({
  ...parseToolForm({}),
  method: 'GET',
  transformLanguage: 'jsonata',
  toolkitTitle: 'My tools',
})

const textOfHint = (hint: boolean | undefined): string => (hint === undefined ? '' : hint ? 'yes' : 'no')
const textOfSchema = (schema: ToolDefinition['inputSchema']): string =>
  schema === undefined ? '' : JSON.stringify(schema, null, 2)

/** Returns the fields of all parameters of the request. Those without a binding are from the model. */
const textsOfParameters = (tool: Tool): ToolForm['parameters'] => {
  const names = readTemplate(tool).parameters.map(({ name }) => name)
  const metas = new Map(Object.entries(tool.parameters))
  return new Map([...new Set([...names, ...metas.keys()])].map(name => [name, textsOfMeta(metas.get(name) ?? {})]))
}

export const formOfTool = (tool: Tool): ToolForm => ({
  ...emptyToolForm(),
  name: tool.name,
  title: tool.title ?? '',
  description: tool.description ?? '',
  method: tool.method,
  url: tool.url,
  headers: tool.headers.map(({ name, value }) => `${name}: ${value}`).join('\n'),
  body: (tool.body ?? '').replaceAll('\r\n', '\n'),
  timeoutMs: tool.timeoutMs === undefined ? '' : String(tool.timeoutMs),
  retries: tool.retries === undefined ? '' : String(tool.retries),
  callPrice: tool.callPrice === undefined ? '' : String(tool.callPrice),
  cacheSeconds: tool.cacheSeconds === undefined ? '' : String(tool.cacheSeconds),
  cacheShared: tool.cacheShared === true ? 'yes' : '',
  cursorParameter: tool.pagination?.parameter ?? '',
  cursorPath: tool.pagination?.at ?? '',
  allowedOrigins: (tool.allowedOrigins ?? []).join('\n'),
  inputSchema: textOfSchema(tool.inputSchema),
  outputSchema: textOfSchema(tool.outputSchema),
  ...typedResponse(tool.response),
  readOnlyHint: textOfHint(tool.annotations?.readOnlyHint),
  destructiveHint: textOfHint(tool.annotations?.destructiveHint),
  idempotentHint: textOfHint(tool.annotations?.idempotentHint),
  openWorldHint: textOfHint(tool.annotations?.openWorldHint),
  version: String(tool.updatedAt.getTime()),
  parameters: textsOfParameters(tool),
})
