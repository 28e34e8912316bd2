import type { FieldError } from '../../lib/kernel/errors.ts'
import { failure, type Result, success } from '../../lib/kernel/result.ts'
import { withQueryParameters } from '../../tools/import/query-parameters.ts'
import { type PastedFault, type PastedRequest, readPastedCommand } from '../../tools/import/read-pasted.ts'
import { ownedKey } from '../../tools/import/secret-values.ts'
import type { ToolForm } from './tool-editor-form.ts'

/** A form filled in from a text that was pasted into its URL field, without the secrets of the text. */
export type FormImport = {
  form: ToolForm
  from: 'cURL command' | 'URL'
  /** Whether the text had values of secrets, which were not kept. */
  hadSecrets: boolean
  /** Keys of the secrets that a server needs for the tool. */
  secretKeys: readonly string[]
  /** What was left out or changed, as sentences. */
  notes: readonly string[]
}

const toFieldError = ({ message, line, column }: PastedFault): FieldError => ({
  path: 'url',
  message:
    line === undefined
      ? `cannot be read from this cURL command: ${message}`
      : `line ${line}, column ${column}: in the cURL command, ${message}`,
})

const fill = (form: ToolForm, { draft, notes }: PastedRequest): FormImport => {
  const { definition, secrets, variables } = draft
  const { url, defaults } = withQueryParameters(draft)
  const names = new Set([...secrets, ...variables.filter(variable => variable.isSecret)].map(one => one.parameter))
  const keys = new Map([...names].map(name => [name, ownedKey(name, url)]))
  const parameters = new Map(form.parameters)
  for (const [name, key] of keys) parameters.set(name, { ...parameters.get(name), source: 'secret', key })
  for (const [name, value] of defaults) parameters.set(name, { ...parameters.get(name), default: value })
  return {
    form: {
      ...form,
      name: form.name.trim() === '' ? definition.name : form.name,
      method: definition.method,
      url,
      headers: definition.headers.map(({ name, value }) => `${name}: ${value}`).join('\n'),
      body: (definition.body ?? '').replaceAll('\r\n', '\n'),
      parameters,
    },
    from: 'cURL command',
    hadSecrets: secrets.length > 0,
    secretKeys: [...new Set(keys.values())],
    notes,
  }
}

/**
 * Fills in the form from the cURL command in its URL field. Each secret becomes a parameter that is bound to a secret of
 * the server. Other fields stay, including a name. The error says where the command cannot be read, but not what it
 * says.
 */
export const importCurl = (form: ToolForm): Result<FormImport, FieldError> => {
  const pasted = readPastedCommand(form.url)
  return pasted.ok ? success(fill(form, pasted.value)) : failure(toFieldError(pasted.error))
}
