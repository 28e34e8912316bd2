import { compareVersions, type Versions } from '../../lib/http/versions.ts'
import type { Tool } from '../../tools/tool.ts'
import { formOfTool, type ToolForm } from './tool-editor-form.ts'

const LABELS = {
  name: 'Name',
  title: 'Title',
  description: 'Description',
  method: 'Method',
  url: 'URL',
  headers: 'Headers',
  body: 'Body',
  timeoutMs: 'Give up after',
  cacheSeconds: 'Keep answers for',
  cacheShared: 'Kept answers are the same for all',
  allowedOrigins: 'Allowed origins',
  htmlToMarkdown: 'HTML to Markdown',
  dropFields: 'Left out',
  transformLanguage: 'Language of the transform',
  transform: 'Transform',
  maxStringLength: 'Longest string',
  inputSchema: 'Input schema',
  outputSchema: 'Output schema',
  readOnlyHint: 'Only reads',
  destructiveHint: 'May destroy',
  idempotentHint: 'Safe to send twice',
  openWorldHint: 'Reaches beyond',
} as const satisfies Partial<Record<keyof ToolForm, string>>

const parameterText = (form: ToolForm, name: string): string =>
  Object.entries(form.parameters.get(name) ?? {})
    .flatMap(([key, text]) => (text ? [`${key}: ${text}`] : []))
    .join('\n')

/** What was typed of a tool beside what somebody else has saved meanwhile. */
export const toConflictView = (mine: ToolForm, saved: Tool): Versions => {
  const theirs = formOfTool(saved)
  const fields = Object.entries(LABELS).map(([field, label]) => {
    const key = Object.keys(LABELS).find((known): known is keyof typeof LABELS => known === field) ?? 'name'
    return { label, mine: mine[key], theirs: theirs[key] }
  })
  const names = [...new Set([...mine.parameters.keys(), ...theirs.parameters.keys()])]
  const parameters = names.map(name => ({
    label: `Parameter ${name}`,
    mine: parameterText(mine, name),
    theirs: parameterText(theirs, name),
  }))
  return compareVersions([...fields, ...parameters])
}
