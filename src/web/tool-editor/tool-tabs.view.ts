import { formatNumber } from '../../lib/kernel/format.ts'
import type { BodyKind } from '../../templates/template.ts'
import type { AuthView } from './tool-auth.view.ts'
import type { EditorState } from './tool-editor-state.ts'
import type { ParameterRow } from './tool-parameters.view.ts'

type Mark = { tone: 'danger' | 'secret'; text: string }

const BODY_LABELS: Readonly<Record<BodyKind, string>> = {
  none: 'None',
  json: 'JSON',
  form: 'Form',
  xml: 'XML',
  multipart: 'Multipart',
  text: 'Text',
}

const RESPONSE_FIELDS: ReadonlySet<string> = new Set([
  'htmlToMarkdown',
  'dropFields',
  'transformLanguage',
  'transform',
  'maxStringLength',
  'cacheSeconds',
  'cacheShared',
  'cursorParameter',
  'cursorPath',
  'outputSchema',
])
const REQUEST_FIELDS: ReadonlySet<string> = new Set(['', 'name', 'description', 'method', 'url'])

/** Returns the tab that contains a field, or undefined if the field is above the tabs. */
const tabOf = (field: string): string | undefined => {
  if (field.startsWith('parameter:')) return 'params'
  if (field === 'headers' || field === 'body') return field
  if (RESPONSE_FIELDS.has(field)) return 'response'
  return REQUEST_FIELDS.has(field) ? undefined : 'settings'
}

/** Says whether a secret may reach the model, or that secrets are kept from it. */
const secretMarks = (rows: readonly ParameterRow[]): readonly Mark[] => {
  if (rows.some(({ isExposedSecret }) => isExposedSecret))
    return [{ tone: 'secret', text: 'a secret comes from the model' }]
  return rows.some(({ isSecret }) => isSecret) ? [{ tone: 'secret', text: 'has a secret' }] : []
}

const authMarks = ({ isWrittenOut, parameters }: AuthView): readonly Mark[] =>
  isWrittenOut ? [{ tone: 'secret', text: 'a secret is written in the request' }] : secretMarks(parameters)

/** Returns the kinds of body. The current one has an empty value: another one, once sent, changes the template. */
export const toBodyKinds = ({ read }: EditorState) =>
  Object.entries(BODY_LABELS).map(([kind, text]) => ({ value: kind === read.template.bodyKind ? '' : kind, text }))

/** Returns the tabs of the editor: their names, what they contain, and what needs attention there. */
export const toTabs = ({ read, placed }: EditorState, rows: readonly ParameterRow[], auth: AuthView) => {
  const { bodyKind } = read.template
  const faulty = new Set([...placed.keys()].map(tabOf))
  const countOf = (count: number): string | undefined => (count === 0 ? undefined : formatNumber(count))
  const tabs: { id: string; title: string; count?: string | undefined; marks?: readonly Mark[] }[] = [
    { id: 'params', title: 'Parameters', count: countOf(rows.length), marks: secretMarks(rows) },
    { id: 'headers', title: 'Headers', count: countOf(read.definition.headers.length) },
    { id: 'auth', title: 'Auth', marks: authMarks(auth) },
    { id: 'body', title: 'Body', count: bodyKind === 'none' ? undefined : BODY_LABELS[bodyKind] },
    { id: 'response', title: 'Response' },
    { id: 'settings', title: 'Settings' },
  ]
  return tabs.map(({ marks = [], ...tab }) => ({
    ...tab,
    marks: [...(faulty.has(tab.id) ? [{ tone: 'danger', text: 'has an error' } as const] : []), ...marks],
  }))
}
