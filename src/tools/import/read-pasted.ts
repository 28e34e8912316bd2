import { isCurlCommand } from '../../lib/kernel/curl-command.ts'
import type { FieldError } from '../../lib/kernel/errors.ts'
import { formatNumber } from '../../lib/kernel/format.ts'
import { failure, type Result, success } from '../../lib/kernel/result.ts'
import { kindOf } from '../../templates/body-template.ts'
import { checkDefinition } from '../tool-definition.ts'
import { readCurl } from './curl-request.ts'
import { readCurlUrl } from './curl-url.ts'
import type { IsSecret } from './draft-parameters.ts'
import type { ImportedRequest, RequestVariable } from './imported-request.ts'
import { isSecretValue, mayBeSecretValue } from './secret-values.ts'
import { UnreadableText } from './text-fault.ts'
import { type RequestDraft, toToolDraft } from './to-tool-draft.ts'
import { replaceUrlPlaceholders } from './url-placeholders.ts'
import { hasVariables, markOf } from './variable-marks.ts'

export type PastedRequest = {
  kind: 'url' | 'curl'
  draft: RequestDraft
  /** What was left out or changed, as sentences. They contain no values of the request. */
  notes: readonly string[]
}

/** Why a text cannot be read, within a sentence. Contains no text of the request, which may have secrets. */
export type PastedFault = { message: string; line?: number; column?: number }

/**
 * Maximum length of a text, in characters. Drafting the tool blocks the event loop: at this length for 20 to 50 ms if
 * the body is nothing but short values.
 */
const MAX_CHARS = 32 * 1_024

/** Returns the first reason, without its position and without texts of the request, which messages quote. */
export const reasonOf = ([first]: readonly FieldError[]): string =>
  (first?.message ?? 'the request is not valid')
    .replace(/^line \d+, column \d+: /, '')
    .replace(/"(?:[^"\\]|\\.)*"/g, 'a text')

/** Notes plain text, in which the draft finds no secrets. A single placeholder or JSON is not plain text. */
export const noteUnsearched = ({ headers, body = '' }: RequestDraft['definition']): readonly string[] => {
  const type = headers.find(({ name }) => name.toLowerCase() === 'content-type')?.value ?? ''
  const isSearched = kindOf(type) !== 'text' || /^$|^\{\{[^{}]*\}\}$|^\s*[[{](?!\{)/.test(body)
  return isSearched
    ? []
    : ['Plain text is not searched for secrets. Check the body, and replace each secret with a parameter.']
}

/** Replaces placeholders such as `{id}`, `<id>` and `:id` in the path and the query by variables. */
export const withPlaceholders = (request: ImportedRequest): ImportedRequest => {
  const variables = new Map(request.variables.map(variable => [variable.name, variable]))
  const url = replaceUrlPlaceholders(request.url, (name, written) => {
    if (!variables.has(name)) variables.set(name, { name, written, from: 'placeholder' })
    return markOf(name)
  })
  return { ...request, url, variables: [...variables.values()] }
}

const toDraft = (
  kind: PastedRequest['kind'],
  request: ImportedRequest,
  isSecret: IsSecret = isSecretValue,
): Result<PastedRequest, PastedFault> => {
  const draft = toToolDraft(withPlaceholders(request), isSecret)
  if (!draft.ok) return failure({ message: reasonOf(draft.error) })
  const notes = [...request.notes, ...draft.value.notes, ...noteUnsearched(draft.value.definition)]
  return success({ kind, draft: draft.value, notes })
}

const tooLong = (): Result<PastedRequest, PastedFault> =>
  failure({ message: `it is longer than ${formatNumber(MAX_CHARS)} characters. Shorten its body` })

/** Reads a cURL command. `isSecret` tells which values become parameters because they are secrets. */
export const readPastedCommand = (text: string, isSecret?: IsSecret): Result<PastedRequest, PastedFault> => {
  const command = text.replaceAll('\r\n', '\n')
  if (command.length > MAX_CHARS) return tooLong()
  const request = readCurl(command)
  return request.ok ? toDraft('curl', request.value, isSecret) : request
}

/** The method in front of a URL, and what is around it in documentation and logs. */
const METHOD = /^(GET|POST|PUT|PATCH|DELETE|HEAD|OPTIONS)\s+(?=\S)/i
const HTTP_VERSION = /\s+HTTP\/[\d.]+$/i
const QUOTED = /^(?:"(.*)"|'(.*)'|`(.*)`|<(https?:.*)>)$/is

/** Matches a scheme, a host with a dot or a port, an IPv4 address, or `localhost`. */
const URL_LIKE =
  /^(?:[a-z][a-z0-9+.-]*:\/\/|(?:[\w-]+\.)+[a-z\d-]{2,}(?=[:/?#]|$)|(?:\d{1,3}\.){3}\d{1,3}(?=[:/?#]|$)|[\w-]+:\d+(?=[/?#]|$)|localhost(?=[/?#]|$))/i

/** `{{name}}` of Patchbay, Postman and others, with a type, a default or a serialization. */
const OWN_PLACEHOLDER = /(?<!\\)\{\{\s*(?:[a-z]+:)?([A-Za-z_][\w.-]{0,63})(?:\?\s*|\s*(?:[=|][^{}]*)?)\}\}/g

const NO_URL =
  'no URL was found. Paste a whole URL, such as https://api.example.com/orders/{id}, or a command that starts with curl'
const NO_HOST = 'the URL has a placeholder in place of its host. Write the host out, as in https://api.example.com'

type PastedUrl = { method: string; url: string }

const splitMethod = (text: string): PastedUrl => {
  const [, method] = METHOD.exec(text) ?? []
  const rest = method === undefined ? text : text.replace(METHOD, '').replace(HTTP_VERSION, '')
  const quoted = QUOTED.exec(rest)
    ?.slice(1)
    .find(inner => inner !== undefined)
  return { method: (method ?? 'GET').toUpperCase(), url: (quoted ?? rest).trim() }
}

/** Replaces `{{name}}` by variables. What was written is restored in the draft, with its type and default. */
const markOwn = (url: string): { url: string; variables: readonly RequestVariable[] } => {
  const variables = new Map<string, RequestVariable>()
  const marked = url.replace(OWN_PLACEHOLDER, (written: string, name: string) => {
    if (!variables.has(name)) variables.set(name, { name, written, from: 'placeholder' })
    return markOf(name)
  })
  return { url: marked, variables: [...variables.values()] }
}

const readUrl = (text: string): ImportedRequest => {
  const { method, url: written } = splitMethod(text)
  if (!URL_LIKE.test(written) || /[\r\n]/.test(written)) {
    const isHostless = /^(?:\{\{|[{<:/])/.test(written) && !/[\r\n]/.test(written)
    throw new UnreadableText(isHostless ? NO_HOST : NO_URL, 0)
  }
  const { url: marked, variables } = markOwn(written.replaceAll('\0', '').replaceAll(/\s/g, '%20'))
  const { url, credentials, notes } = readCurlUrl(
    { text: marked, offset: 0 },
    { query: [], requestTarget: undefined, isGlobOff: true, isPathAsIs: false, uploadName: undefined },
  )
  const host = /^https?:\/\/([^/?#]*)/.exec(url)?.[1] ?? ''
  if (hasVariables(host) || /[{}<>]/.test(host)) throw new UnreadableText(NO_HOST, 0)
  return {
    method,
    url,
    headers: [],
    auth: credentials === undefined ? { kind: 'none' } : { kind: 'basic', ...credentials },
    cookies: [],
    body: { kind: 'none' },
    variables,
    notes: notes.map(note => note.replace(', where curl would use http', '')),
  }
}

/**
 * Writes the `{{name}}` that the text had into the draft, so that its types and defaults stay. If they are not allowed
 * there, such as a `?` in the path, only the names stay.
 */
const restoreOwn = (pasted: PastedRequest): PastedRequest => {
  const { draft, ...rest } = pasted
  const own = draft.variables.filter(({ written }) => written.startsWith('{{'))
  const url = own.reduce(
    (text, { parameter, written }) => text.replaceAll(`{{${parameter}}}`, written),
    draft.definition.url,
  )
  const definition = { ...draft.definition, url }
  return checkDefinition(definition).ok ? { ...rest, draft: { ...draft, definition } } : pasted
}

/**
 * Reads a URL, with or without a method in front of it. Placeholders in the path and the query (`{id}`, `<id>`, `:id`
 * after a slash) become parameters, and so do secrets: `isSecret` tells which values are secrets.
 */
export const readPastedUrl = (text: string, isSecret?: IsSecret): Result<PastedRequest, PastedFault> => {
  const trimmed = text.trim()
  if (trimmed.length > MAX_CHARS) return tooLong()
  try {
    const drafted = toDraft('url', readUrl(trimmed), isSecret)
    return drafted.ok ? success(restoreOwn(drafted.value)) : drafted
  } catch (error) {
    if (error instanceof UnreadableText) return failure({ message: error.message })
    throw error
  }
}

/**
 * Reads a pasted text: a cURL command or a URL. Runs and requests nothing. Values that are only offered as secrets are
 * among the secrets, too, so that the draft does not contain them.
 */
export const readPasted = (text: string): Result<PastedRequest, PastedFault> =>
  isCurlCommand(text) ? readPastedCommand(text, mayBeSecretValue) : readPastedUrl(text, mayBeSecretValue)

/** Returns whether the host of a draft's URL is written out, and does not depend on a parameter. */
export const hasWrittenHost = ({ definition }: Pick<RequestDraft, 'definition'>): boolean =>
  /^https?:\/\/[^/?#{}]+(?=[/?#]|$)/i.test(definition.url)
