import { editedTool, type ImportItem } from '../../imports/import.ts'
import { formatNumber } from '../../lib/kernel/format.ts'
import type { JsonObject } from '../../lib/kernel/json.ts'
import { defaultBindingsOf } from '../../servers/bindings/default-bindings.ts'
import { exposedSchemaOf } from '../../servers/bindings/exposed-schema.ts'
import { secretKeyOf } from '../../templates/check-value.ts'
import type { ToolDefinition } from '../../tools/tool.ts'
import { annotationsOf } from '../../tools/tool-annotations.ts'
import { checkDefinition } from '../../tools/tool-definition.ts'
import { formatJson } from '../overview/format-json.ts'
import { type ReviewQuery, reviewAddress } from './review-query.ts'

/** What was typed for the opened operation and refused. */
export type TypedOperation = { name: string; description: string; errors: Readonly<Record<string, string>> }

type Segment = { text: string; isPlaceholder: boolean }

/** Splits the text of a template at its placeholders. */
const toSegments = (text: string): Segment[] =>
  text
    .split(/(\{\{[^{}]*\}\})/)
    .filter(part => part !== '')
    .map(part => ({ text: part, isPlaceholder: part.startsWith('{{') }))

const templateText = ({ url, headers, body }: ToolDefinition): string =>
  [` ${url}`, ...headers.map(({ name, value }) => `\n${name}: ${value}`), body === undefined ? '' : `\n\n${body}`].join(
    '',
  )

const HINTS = [
  ['readOnlyHint', 'read-only', 'changes data'],
  ['destructiveHint', 'destructive', 'not destructive'],
  ['idempotentHint', 'idempotent', 'not idempotent'],
] as const

const describeAnnotations = (definition: ToolDefinition): string[] => {
  const annotations = annotationsOf(definition)
  return HINTS.flatMap(([hint, yes, no]) => (annotations[hint] === undefined ? [] : [annotations[hint] ? yes : no]))
}

/** Returns the schema that models see: without the parameters that are bound by default. */
export const schemaForModels = (definition: ToolDefinition): JsonObject | undefined => {
  const checked = checkDefinition(definition)
  return checked.ok ? exposedSchemaOf(definition, checked.value, defaultBindingsOf(definition)) : undefined
}

const toHidden = ({ parameters }: ToolDefinition) =>
  Object.entries(parameters).flatMap(([name, { binding }]) => {
    if (binding === undefined) return []
    if (binding.source === 'instance') return [{ source: 'fixed', text: name }]
    return [{ source: secretKeyOf(binding) === undefined ? 'global' : 'secret', text: binding.key }]
  })

const toTool = (item: ImportItem, definition: ToolDefinition, typed: TypedOperation | undefined) => ({
  name: typed?.name ?? definition.name,
  generatedName: 'tool' in item && item.tool.name !== definition.name ? item.tool.name : undefined,
  description: typed?.description ?? definition.description ?? '',
  errors: typed?.errors ?? {},
  shownName: definition.name,
  shownDescription: definition.description,
  template: toSegments(templateText(definition)),
  schema: formatJson(JSON.stringify(schemaForModels(definition) ?? {})) ?? [],
  hidden: toHidden(definition),
  annotations: describeAnnotations(definition),
  tokens: 'tool' in item ? formatNumber(item.tokens) : undefined,
  notes: 'tool' in item ? item.notes : [],
  unsupported: 'tool' in item ? item.unsupportedSecurity.join(', ') : '',
  findings:
    'tool' in item
      ? item.findings.map(({ level, message, remedy }) => ({
          tone: level === 'hint' ? undefined : 'warn',
          text: [message, remedy].filter(Boolean).join(' '),
        }))
      : [],
})

/** Returns the opened operation. */
export const toOpened = (item: ImportItem, query: ReviewQuery, path: string, typed?: TypedOperation) => {
  const definition = editedTool(item)
  return {
    key: item.key,
    rowId: `row-${item.position}`,
    method: item.method,
    path: item.path,
    tags: item.tags,
    operationId: item.operationId,
    summary: item.summary,
    deprecated: item.deprecated,
    reason: 'reason' in item ? item.reason : undefined,
    close: reviewAddress(path, { ...query, open: undefined }),
    action: reviewAddress(`${path}/operation`, query),
    tool: definition && toTool(item, definition, typed),
  }
}
