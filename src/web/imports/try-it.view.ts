import { editedTool, type ImportItem } from '../../imports/import.ts'
import type { DraftTest } from '../../runtime/try/tool-draft.ts'
import { fixedText } from '../../servers/bindings/sockets.ts'
import type { ToolDefinition } from '../../tools/tool.ts'
import { type ArgumentField, choicesOf, hintOf, toFields } from '../inspector/argument-form.ts'
import { toResponseView } from '../tool-editor/sent-response.view.ts'
import { maskSegments } from '../tool-editor/tool-preview.view.ts'
import { schemaForModels } from './opened.view.ts'
import { type ReviewQuery, reviewAddress } from './review-query.ts'

/** What was tried: the typed arguments, why some are refused, and the outcome if the request was sent. */
export type TriedOperation = {
  typed: (name: string) => string
  errors: ReadonlyMap<string, string>
  problem?: string | undefined
  test?: DraftTest | undefined
}

/** Returns the fields for the arguments of an operation. Undefined if a form cannot have them. */
export const fieldsOf = (item: ImportItem): readonly ArgumentField[] | undefined => {
  const definition = editedTool(item)
  const schema = definition && schemaForModels(definition)
  return schema && toFields(schema)
}

const exampleOf = ({ name, kind }: ArgumentField, { parameters }: ToolDefinition): string => {
  const example = parameters[name]?.example
  if (example === undefined) return ''
  return kind === 'choice' || kind === 'boolean' ? JSON.stringify(example) : fixedText(example)
}

const toField = (field: ArgumentField, definition: ToolDefinition, tried: TriedOperation | undefined) => {
  const id = `argument:${field.name}`
  const hasOptions = field.kind === 'choice' || field.kind === 'boolean'
  const fault = tried?.errors.get(field.name)
  return {
    id,
    label: field.name,
    kind: field.kind,
    value: tried === undefined ? exampleOf(field, definition) : tried.typed(field.name),
    hint: hintOf(field),
    error: fault === undefined ? undefined : `${field.name} ${fault}.`,
    options: hasOptions ? [{ value: '', text: 'not set' }, ...choicesOf(field)] : undefined,
  }
}

const toRequest = ({ method, url, headers, body }: NonNullable<DraftTest['request']>) => ({
  method,
  segments: [
    ...maskSegments(` ${url}`),
    ...headers.flatMap(([name, value]) => [{ text: `\n${name}:`, kind: 'key' }, ...maskSegments(` ${value}`)]),
    ...(body === undefined ? [] : maskSegments(`\n\n${body.slice(0, 20_000)}`)),
  ],
})

/** `lacking` are the keys of the globals without a value. */
type Place = { query: ReviewQuery; path: string; lacking: readonly string[] }

/** Returns the form that sends an operation's request once, before anything is saved, and the outcome. */
export const toTryIt = (item: ImportItem, { query, path, lacking }: Place, tried?: TriedOperation) => {
  const fields = fieldsOf(item)
  const definition = editedTool(item)
  if (definition === undefined) return undefined
  return {
    action: reviewAddress(`${path}/test`, query),
    accessHref: reviewAddress(path, { view: 'access', open: query.open }),
    lacking: 'tool' in item ? item.globals.filter(key => lacking.includes(key)) : [],
    fields: fields?.map(field => toField(field, definition, tried)),
    isUnsafe: !['GET', 'HEAD', 'OPTIONS'].includes(item.method),
    problem: tried?.problem,
    request: tried?.test?.request && toRequest(tried.test.request),
    response: tried?.test && toResponseView(tried.test),
  }
}
