import { applyCandidates } from '../../tools/import/apply-candidates.ts'
import { withQueryParameters } from '../../tools/import/query-parameters.ts'
import { readPastedUrl } from '../../tools/import/read-pasted.ts'
import { ownedKey } from '../../tools/import/secret-values.ts'
import type { FormImport } from './curl-import.ts'
import { withHeader, withoutHeaders } from './template-headers.ts'
import type { ToolForm } from './tool-editor-form.ts'

/** Longer URLs are left as they are, because the URL is read with every preview. */
const MAX_CHARS = 4_000
const METHOD = /^\s*[A-Za-z]+\s/

const withHeaders = (text: string, headers: readonly { name: string; value: string }[]): string =>
  headers.reduce((all, header) => {
    const others = withoutHeaders(all, ({ name }) => name.toLowerCase() === header.name.toLowerCase())
    return withHeader(others, header)
  }, text)

/**
 * Makes the ids in the path, the values of the query and the secrets of the form's URL parameters. Each secret becomes a
 * parameter that is bound to a secret of the server. Returns undefined if there is none of these, or no whole URL.
 */
export const importUrl = (form: ToolForm): (FormImport & { names: readonly string[] }) | undefined => {
  const read = form.url.length > MAX_CHARS ? undefined : readPastedUrl(form.url)
  if (read?.ok !== true) return undefined
  const { draft, notes } = read.value
  const { definition, candidates } = draft
  // What the form says of its own parameters stays.
  const isForeign = ({ isSecret, written }: (typeof draft.variables)[number]) => isSecret && !written.startsWith('{{')
  const secrets = [...draft.secrets, ...draft.variables.filter(isForeign)].map(({ parameter }) => parameter)
  const inPath = candidates.filter(({ place, name }) => place === 'path' && !definition.url.includes(`{{${name}}}`))
  const withPath = applyCandidates(definition.url, inPath)
  const { url, defaults } = withQueryParameters({ definition: { ...definition, url: withPath }, candidates })
  const names = [...new Set([...inPath.map(({ name }) => name), ...defaults.keys(), ...secrets])]
  if (names.length === 0) return undefined
  const keys = new Map(secrets.map(name => [name, ownedKey(name, url)]))
  const parameters = new Map(form.parameters)
  for (const [name, key] of keys) parameters.set(name, { ...parameters.get(name), source: 'secret', key })
  for (const { name, value } of inPath) parameters.set(name, { ...parameters.get(name), example: value })
  for (const [name, value] of defaults) parameters.set(name, { ...parameters.get(name), default: value })
  return {
    form: {
      ...form,
      name: form.name.trim() === '' ? definition.name : form.name,
      method: METHOD.test(form.url) ? definition.method : form.method,
      url,
      headers: withHeaders(form.headers, definition.headers),
      parameters,
    },
    from: 'URL',
    hadSecrets: draft.secrets.length > 0,
    secretKeys: [...new Set(keys.values())],
    notes,
    names,
  }
}
