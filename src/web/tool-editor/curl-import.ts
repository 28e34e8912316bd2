import type { FieldError } from '../../lib/kernel/errors.ts'
import { formatNumber } from '../../lib/kernel/format.ts'
import { failure, type Result, success } from '../../lib/kernel/result.ts'
import { kindOf } from '../../templates/body-template.ts'
import { readCurl } from '../../tools/import/curl-request.ts'
import type { IsSecret, ValuePlace } from '../../tools/import/draft-parameters.ts'
import { withQueryParameters } from '../../tools/import/query-parameters.ts'
import { type RequestDraft, toToolDraft } from '../../tools/import/to-tool-draft.ts'
import { type NamedParameter, secretRuleOf } from '../../tools/secret-parameters.ts'
import type { ToolForm } from './tool-editor-form.ts'

/** A form filled in from a cURL command, without its secrets. */
export type CurlImport = {
  form: ToolForm
  /** Whether the command had values of secrets, which were not kept. */
  hadSecrets: boolean
  /** Keys of the secrets that a server needs for the tool. */
  secretKeys: readonly string[]
  /** What was left out or changed, as sentences. */
  notes: readonly string[]
}

/**
 * Maximum length of a command, in characters. Drafting the tool blocks the event loop: at this length for 20 to 50 ms if
 * the body is nothing but short values.
 */
const MAX_CHARS = 32 * 1_024

const refuse = (reason: string): Result<CurlImport, FieldError> =>
  failure({ path: 'url', message: `cannot be read from this cURL command: ${reason}` })

const PLACES: Readonly<Record<ValuePlace, NamedParameter['place']>> = {
  path: 'path',
  query: 'query',
  header: 'header',
  cookie: 'cookie',
  form: 'body',
  json: 'body',
  xml: 'body',
  multipart: 'body',
}

const isSecret: IsSecret = (place, name, value) => secretRuleOf({ place: PLACES[place], name, value }) === 'kept'

/** Labels of hosts that do not name their owner. */
const EMPTY_LABEL = /^(?:www|api|co|com|net|org|ac|gov|edu)$/

/** Returns the label of a host that names its owner, such as `carrier` for `api.carrier.example`. */
const ownerOf = (url: string): string | undefined => {
  const [, host = ''] = /^https?:\/\/([a-z0-9.-]+)(?=[/:?]|$)/i.exec(url) ?? []
  if (/^[\d.]*$/.test(host)) return undefined
  return host
    .toLowerCase()
    .split('.')
    .slice(0, -1)
    .findLast(label => !EMPTY_LABEL.test(label))
}

/**
 * Returns the key of the secret for a parameter, such as `carrier_access_token`. Names such as `access_token` are the
 * same for many APIs, and a secret must not go to the API of another one.
 */
const keyFor = (parameter: string, url: string): string => {
  const owner = ownerOf(url)?.replaceAll('-', '_')
  if (owner === undefined || parameter.startsWith(owner)) return parameter
  return `${/^\d/.test(owner) ? '_' : ''}${owner}_${parameter}`.slice(0, 64)
}

/** Notes plain text, in which the draft finds no secrets. A single placeholder or JSON is not plain text. */
const noteUnsearched = ({ headers, body = '' }: RequestDraft['definition']): readonly string[] => {
  const type = headers.find(({ name }) => name.toLowerCase() === 'content-type')?.value ?? ''
  const isSearched = kindOf(type) !== 'text' || /^$|^\{\{[^{}]*\}\}$|^\s*[[{](?!\{)/.test(body)
  return isSearched
    ? []
    : ['Plain text is not searched for secrets. Check the body, and replace each secret with a parameter.']
}

const fill = (form: ToolForm, draft: RequestDraft, notes: readonly string[]): CurlImport => {
  const { definition, secrets, variables } = draft
  const { url, defaults } = withQueryParameters(draft)
  const names = new Set([...secrets, ...variables.filter(variable => variable.isSecret)].map(one => one.parameter))
  const keys = new Map([...names].map(name => [name, keyFor(name, url)]))
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
    hadSecrets: secrets.length > 0,
    secretKeys: [...new Set(keys.values())],
    notes: [...notes, ...draft.notes, ...noteUnsearched(definition)],
  }
}

/** Returns the first reason, without its position and without texts of the command, which messages quote. */
const reasonOf = ([first]: readonly FieldError[]): string =>
  (first?.message ?? 'the request is not valid')
    .replace(/^line \d+, column \d+: /, '')
    .replace(/"(?:[^"\\]|\\.)*"/g, 'a text')

/**
 * Fills in the form from the cURL command in its URL field. Each secret becomes a parameter that is bound to a secret of
 * the server. Other fields stay, including a name. The error says where the command cannot be read, but not what it
 * says.
 */
export const importCurl = (form: ToolForm): Result<CurlImport, FieldError> => {
  const command = form.url.replaceAll('\r\n', '\n')
  if (command.length > MAX_CHARS)
    return refuse(`it is longer than ${formatNumber(MAX_CHARS)} characters. Shorten its body`)
  const request = readCurl(command)
  if (!request.ok) {
    const { line, column, message } = request.error
    return failure({ path: 'url', message: `line ${line}, column ${column}: in the cURL command, ${message}` })
  }
  const draft = toToolDraft(request.value, isSecret)
  if (!draft.ok) return refuse(reasonOf(draft.error))
  return success(fill(form, draft.value, request.value.notes))
}
