import { MAX_BODY_TEMPLATE_CHARS } from '../../templates/limits.ts'
import { scanTemplate } from '../../templates/scan.ts'
import { type FoundAuth, findAuth } from './template-auth.ts'
import type { EditorState } from './tool-editor-state.ts'
import type { ParameterRow } from './tool-parameters.view.ts'

const KINDS: Readonly<Record<FoundAuth['kind'], string>> = {
  none: 'None',
  bearer: 'Bearer token',
  basic: 'Basic',
  header: 'API key in a header',
  query: 'API key in the query',
  other: 'Another scheme',
}

const describeUse = ({ kind, name }: FoundAuth): string => {
  switch (kind) {
    case 'none':
      return 'The request has no credentials. Choose a type to add them to its headers or its query.'
    case 'bearer':
      return 'Sent in the Authorization header, after Bearer.'
    case 'basic':
      return 'Sent in the Authorization header, after Basic. The value is user:password in Base64.'
    case 'header':
      return `Sent in the header ${name}. Change its name on the Headers tab.`
    case 'query':
      return `Sent in the query as ${name}. Change its name in the URL.`
    case 'other':
      return 'The Authorization header has another scheme. Edit it on the Headers tab.'
  }
}

const parametersIn = (value: string): ReadonlySet<string> =>
  new Set(scanTemplate(value, { pairs: 'keep', maxChars: MAX_BODY_TEMPLATE_CHARS }).places.map(({ name }) => name))

/** Shows how the request authenticates, and where its credentials come from. */
export const toAuthView = ({ form }: EditorState, rows: readonly ParameterRow[]) => {
  const found = findAuth(form)
  const names = parametersIn(found.value)
  const kinds = Object.entries(KINDS).filter(([kind]) => kind !== 'other' || found.kind === 'other')
  return {
    options: kinds.map(([kind, text]) => ({ value: kind === found.kind ? '' : kind, text })),
    use: describeUse(found),
    parameters: rows.filter(({ name }) => names.has(name)),
    isWrittenOut: found.kind !== 'none' && names.size === 0,
  }
}
export type AuthView = ReturnType<typeof toAuthView>
