import { z } from 'zod'
import { formText, parseForm } from '../../lib/http/pages/forms.ts'
import type { Tool, ToolDefinition } from '../../tools/tool.ts'
import { type ParameterTexts, textsOfMeta } from './tool-editor-parameters.ts'
import { RESPONSE_FIELDS, typedResponse } from './tool-editor-response.ts'

/** The fields that are there for every tool. */
const FIELDS = {
  name: formText,
  title: formText,
  description: formText,
  method: formText,
  url: formText,
  headers: formText,
  body: formText,
  timeoutMs: formText,
  cacheSeconds: formText,
  cacheShared: formText,
  allowedOrigins: formText,
  inputSchema: formText,
  outputSchema: formText,
  readOnlyHint: formText,
  destructiveHint: formText,
  idempotentHint: formText,
  openWorldHint: formText,
  /** Steps that shape its answers. */
  ...RESPONSE_FIELDS,
  /** The answer that those steps are shown with. */
  sample: formText,
  /** The server that it is tried as wired in. */
  serverId: formText,
  /** When the version was saved that the form was opened with, in milliseconds since 1970. */
  version: formText,
  toolkitTitle: formText,
  organizationId: formText,
}

/** What the tool editor's form holds, as it is typed; lines end with a line feed. */
export type ToolForm = Record<keyof typeof FIELDS, string> & {
  /** What is said of parameters, by their names; also of those that the request has lost meanwhile. */
  parameters: ReadonlyMap<string, ParameterTexts>
  /** What it is tried with, by parameter. */
  values: ReadonlyMap<string, string>
}

const Everything = z.record(z.string(), z.unknown()).catch({})

/** `parameter:limit:description`, `value:limit`: no name of a parameter holds a colon. */
const PARAMETER_FIELD = /^parameter:([^:]+):(description|default|enum|example|minimum|maximum|pattern)$/
const VALUE_FIELD = /^value:([^:]+)$/

/** Browsers send the lines of a text with CR LF. */
const withLineFeeds = (text: string): string => text.replaceAll('\r\n', '\n')
const LINES = formText.transform(withLineFeeds)
const Shape = {
  ...FIELDS,
  description: LINES,
  headers: LINES,
  body: LINES,
  allowedOrigins: LINES,
  inputSchema: LINES,
  outputSchema: LINES,
}

/** Never fails: what is typed is judged afterwards. */
export const parseToolForm = (body: unknown): ToolForm => {
  const parameters = new Map<string, ParameterTexts>()
  const values = new Map<string, string>()
  const sent = typeof body === 'object' && body !== null ? { ...body } : {}
  for (const [field, text] of Object.entries(Everything.parse(sent))) {
    if (typeof text !== 'string') continue
    const [, name, key] = PARAMETER_FIELD.exec(field) ?? []
    if (name !== undefined && key !== undefined) {
      parameters.set(name, { ...parameters.get(name), [key]: withLineFeeds(text) })
    }
    const [, tried] = VALUE_FIELD.exec(field) ?? []
    if (tried !== undefined) values.set(tried, withLineFeeds(text))
  }
  return { ...parseForm(Shape, sent), parameters, values }
}

const TOOLKIT_TITLE = 'My tools'

/** The form of a tool that is not there yet. */
export const emptyToolForm = (): ToolForm => ({
  ...parseToolForm({}),
  method: 'GET',
  transformLanguage: 'jsonata',
  toolkitTitle: TOOLKIT_TITLE,
})

const textOfHint = (hint: boolean | undefined): string => (hint === undefined ? '' : hint ? 'yes' : 'no')
const textOfSchema = (schema: ToolDefinition['inputSchema']): string =>
  schema === undefined ? '' : JSON.stringify(schema, null, 2)

/** A saved tool in the form; `typesOf` gives the types of its parameters, which say how their values are written. */
export const formOfTool = (tool: Tool): ToolForm => ({
  ...emptyToolForm(),
  name: tool.name,
  title: tool.title ?? '',
  description: tool.description ?? '',
  method: tool.method,
  url: tool.url,
  headers: tool.headers.map(({ name, value }) => `${name}: ${value}`).join('\n'),
  body: tool.body ?? '',
  timeoutMs: tool.timeoutMs === undefined ? '' : String(tool.timeoutMs),
  cacheSeconds: tool.cacheSeconds === undefined ? '' : String(tool.cacheSeconds),
  cacheShared: tool.cacheShared === true ? 'yes' : '',
  allowedOrigins: (tool.allowedOrigins ?? []).join('\n'),
  inputSchema: textOfSchema(tool.inputSchema),
  outputSchema: textOfSchema(tool.outputSchema),
  ...typedResponse(tool.response),
  readOnlyHint: textOfHint(tool.annotations?.readOnlyHint),
  destructiveHint: textOfHint(tool.annotations?.destructiveHint),
  idempotentHint: textOfHint(tool.annotations?.idempotentHint),
  openWorldHint: textOfHint(tool.annotations?.openWorldHint),
  version: String(tool.updatedAt.getTime()),
  parameters: new Map(Object.entries(tool.parameters).map(([name, meta]) => [name, textsOfMeta(meta)])),
})
