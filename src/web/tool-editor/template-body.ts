import { kindOf } from '../../templates/body-template.ts'
import { MAX_BODY_TEMPLATE_CHARS } from '../../templates/limits.ts'
import { scanTemplate } from '../../templates/scan.ts'
import { formatJson } from '../overview/format-json.ts'
import { headersIn, withHeader, withoutHeaders } from './template-headers.ts'

/** Kinds of body that the editor can write into a request. */
export const BODY_KINDS = ['none', 'json', 'form', 'multipart', 'xml', 'text'] as const
export type EditableBodyKind = (typeof BODY_KINDS)[number]

const BOUNDARY = 'patchbay-part'

const CONTENT_TYPES: Readonly<Record<Exclude<EditableBodyKind, 'none'>, string>> = {
  json: 'application/json',
  form: 'application/x-www-form-urlencoded',
  multipart: `multipart/form-data; boundary=${BOUNDARY}`,
  xml: 'application/xml',
  text: 'text/plain; charset=utf-8',
}

/** Bodies to start from. */
const EXAMPLES: Readonly<Record<Exclude<EditableBodyKind, 'none'>, string>> = {
  json: '{\n  "name": "{{name}}"\n}',
  form: 'name={{name}}',
  multipart: `--${BOUNDARY}\nContent-Disposition: form-data; name="name"\n\n{{name}}\n--${BOUNDARY}--\n`,
  xml: '<name>{{name}}</name>',
  text: '{{name}}',
}
const EXAMPLE_TEXTS: ReadonlySet<string> = new Set(Object.values(EXAMPLES))

const isContentType = ({ name }: { name: string }): boolean => name.toLowerCase() === 'content-type'

type Texts = { url: string; headers: string; body: string }

/**
 * Sets the Content-Type for a kind of body, and removes it and the body for `none`. An empty body, or an unchanged
 * example, is replaced with an example of the kind; any other body stays as it is.
 */
export const setBodyKind = (texts: Texts, kind: EditableBodyKind): Texts => {
  const bare = withoutHeaders(texts.headers, isContentType)
  if (kind === 'none') return { ...texts, headers: bare, body: '' }
  const type = headersIn(texts.headers).find(isContentType)
  const isKind = type !== undefined && kindOf(type.value) === kind
  const isReplaceable = texts.body.trim() === '' || EXAMPLE_TEXTS.has(texts.body)
  return {
    ...texts,
    headers: isKind ? texts.headers : withHeader(bare, { name: 'Content-Type', value: CONTENT_TYPES[kind] }),
    body: isReplaceable ? EXAMPLES[kind] : texts.body,
  }
}

/** Returns a number that is nowhere in the text, so that no digits around it can be taken for a part of it. */
const markFor = (text: string): string => {
  const longest = Math.max(0, ...(text.match(/0+/g) ?? []).map(({ length }) => length))
  return `1${'0'.repeat(longest + 1)}2`
}

/** Formats a JSON body. Placeholders stay as they are. Returns the body unchanged if it is not valid JSON. */
export const formatJsonBody = (body: string): string => {
  const { places, isCut } = scanTemplate(body, { pairs: 'keep', maxChars: MAX_BODY_TEMPLATE_CHARS })
  if (isCut) return body
  const mark = markFor(body)
  const placeholders: string[] = []
  let marked = ''
  let from = 0
  for (const { offset } of places) {
    const end = body.indexOf('}}', offset) + 2
    placeholders.push(body.slice(offset, end))
    marked += body.slice(from, offset) + mark
    from = end
  }
  const formatted = formatJson(marked + body.slice(from))
  if (formatted === undefined) return body
  const pieces = formatted
    .map(({ text }) => text)
    .join('')
    .split(mark)
  return pieces.map((piece, index) => (index === 0 ? piece : (placeholders[index - 1] ?? '') + piece)).join('')
}
