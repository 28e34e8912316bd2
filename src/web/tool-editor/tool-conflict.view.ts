import { compareVersions, type Versions } from '../../lib/http/versions.ts'
import type { Tool } from '../../tools/tool.ts'
import { formOfTool, type ToolForm } from './tool-editor-form.ts'

const LABELS = [
  ['name', 'Name'],
  ['title', 'Title'],
  ['description', 'Description'],
  ['method', 'Method'],
  ['url', 'URL'],
  ['headers', 'Headers'],
  ['body', 'Body'],
  ['timeoutMs', 'Timeout'],
  ['retries', 'Retries'],
  ['callPrice', 'Price per call'],
  ['cacheSeconds', 'Cache responses for'],
  ['cacheShared', 'Cache scope'],
  ['allowedOrigins', 'Allowed origins'],
  ['htmlToMarkdown', 'HTML to Markdown'],
  ['dropFields', 'Drop fields'],
  ['transformLanguage', 'Transform language'],
  ['transform', 'Transform'],
  ['maxStringLength', 'Max string length'],
  ['cursorParameter', 'Cursor parameter'],
  ['cursorPath', 'Cursor in the response'],
  ['inputSchema', 'Input schema'],
  ['outputSchema', 'Output schema'],
  ['readOnlyHint', 'Read-only'],
  ['destructiveHint', 'Destructive'],
  ['idempotentHint', 'Idempotent'],
  ['openWorldHint', 'Open world'],
] as const

const parameterText = (form: ToolForm, name: string): string =>
  Object.entries(form.parameters.get(name) ?? {})
    .filter(([key, text]) => text && !(key === 'source' && text === 'model'))
    .map(([key, text]) => `${key}: ${text}`)
    .join('\n')

/** Compares the form with the version that someone else has saved. */
export const toConflictView = (mine: ToolForm, saved: Tool): Versions => {
  const theirs = formOfTool(saved)
  const fields = LABELS.map(([field, label]) => ({ label, mine: mine[field], theirs: theirs[field] }))
  const names = [...new Set([...mine.parameters.keys(), ...theirs.parameters.keys()])]
  const parameters = names.map(name => ({
    label: `Parameter ${name}`,
    mine: parameterText(mine, name),
    theirs: parameterText(theirs, name),
  }))
  return compareVersions([...fields, ...parameters])
}
