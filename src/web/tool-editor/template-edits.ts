import { isCurlCommand } from '../../lib/kernel/curl-command.ts'
import { editPlaceholders, type PlaceholderEdit } from '../../templates/edit-placeholders.ts'
import { PARAMETER_TYPES } from '../../templates/template.ts'
import { AUTH_KINDS, setAuth } from './template-auth.ts'
import { BODY_KINDS, formatJsonBody, setBodyKind } from './template-body.ts'

/** The fields that may contain placeholders. */
export const TEMPLATE_FIELDS = ['url', 'headers', 'body'] as const
type TemplateTexts = Record<(typeof TEMPLATE_FIELDS)[number], string>

/**
 * Fields that change the template itself: their value is empty unless the user has chosen something else than what the
 * template says, so that the template stays the only place where it is stored.
 */
const EDIT_FIELD = /^parameter:([^:]+):(type|required)$/

const readPlaceholderEdits = (sent: Readonly<Record<string, unknown>>): ReadonlyMap<string, PlaceholderEdit> => {
  const edits = new Map<string, PlaceholderEdit>()
  for (const [field, value] of Object.entries(sent)) {
    const [, name, key] = EDIT_FIELD.exec(field) ?? []
    if (name === undefined) continue
    const keepsSlashes = key === 'type' && value === 'segments'
    const type = key === 'type' ? PARAMETER_TYPES.find(known => known === value) : undefined
    const required = key === 'required' && (value === 'yes' || value === 'no') ? value === 'yes' : undefined
    if (keepsSlashes) edits.set(name, { ...edits.get(name), type: 'string', serialization: 'segments' })
    if (type !== undefined) edits.set(name, { ...edits.get(name), type })
    if (required !== undefined) edits.set(name, { ...edits.get(name), required })
  }
  return edits
}

/** Edits each line on its own, so that an unclosed placeholder in one header does not affect the others. */
const editLines = (text: string, edits: ReadonlyMap<string, PlaceholderEdit>): string =>
  text
    .split('\n')
    .map(line => editPlaceholders(line, edits))
    .join('\n')

/** Applies the submitted changes to the template. Returns it unchanged if there are none, or if the URL is a command. */
export const editTemplate = (texts: TemplateTexts, sent: Readonly<Record<string, unknown>>): TemplateTexts => {
  if (isCurlCommand(texts.url)) return texts
  const edits = readPlaceholderEdits(sent)
  const auth = AUTH_KINDS.find(kind => kind === sent.auth)
  const bodyKind = BODY_KINDS.find(kind => kind === sent.bodyKind)
  let { url, headers, body } = texts
  if (edits.size > 0) {
    url = editPlaceholders(url, edits)
    headers = editLines(headers, edits)
    body = editPlaceholders(body, edits)
  }
  if (auth !== undefined) ({ url, headers, body } = setAuth({ url, headers, body }, auth))
  if (bodyKind !== undefined) ({ url, headers, body } = setBodyKind({ url, headers, body }, bodyKind))
  if (sent.format === 'json') body = formatJsonBody(body)
  return { url, headers, body }
}
