import { kindOf } from '../../templates/body-template.ts'
import { type FileReader, readFormField } from './curl-form.ts'
import type { GivenOption } from './curl-options.ts'
import { decodeFormText } from './curl-url.ts'
import type { Pair, RequestBody } from './imported-request.ts'
import { fillMarks, mapLiterals } from './variable-marks.ts'

const FORM_TYPE = 'application/x-www-form-urlencoded'
const JSON_TYPE = 'application/json'
const MULTIPART_TYPE = 'multipart/form-data'

/** Encodes as curl does for `--data-urlencode`: everything but unreserved characters, and spaces as `+`. */
const urlEncode = (text: string): string =>
  mapLiterals(text, literal =>
    encodeURIComponent(literal.toWellFormed())
      .replaceAll(/[!'()*]/g, char => `%${char.charCodeAt(0).toString(16).toUpperCase()}`)
      .replaceAll('%20', '+'),
  )

/** Reads `content`, `=content`, `name=content`, `@file` or `name@file`. */
export const urlEncodePair = ({ value, offset }: GivenOption, readFile: FileReader): string => {
  const equals = value.indexOf('=')
  const at = equals === -1 ? value.indexOf('@') : equals
  if (at === -1) return urlEncode(value)
  const name = value.slice(0, at)
  const content = value.slice(at + 1)
  const encoded = urlEncode(equals === -1 ? readFile(content, { offset, suggestedName: name }) : content)
  return name === '' ? encoded : `${name}=${encoded}`
}

const readPiece = (option: GivenOption, readFile: FileReader): string => {
  const { name, value, offset } = option
  if (name === 'data-urlencode') return urlEncodePair(option, readFile)
  if (name === 'data-raw' || !value.startsWith('@')) return value
  const content = readFile(value.slice(1), { offset, suggestedName: 'body' })
  // Only --data-binary and --json keep the line breaks of a file.
  return name === 'data' || name === 'data-ascii' ? content.replaceAll(/[\r\n]/g, '') : content
}

const isData = ({ name }: GivenOption): boolean =>
  ['data', 'data-ascii', 'data-raw', 'data-binary', 'data-urlencode', 'json'].includes(name)

/** Joins the data of all options as curl does: with `&`, except before a `--json`. Returns undefined if no option has data. */
export const readData = (options: readonly GivenOption[], readFile: FileReader): string | undefined => {
  const given = options.filter(isData)
  if (given.length === 0) return undefined
  return given
    .map((option, index) => (index === 0 || option.name === 'json' ? '' : '&') + readPiece(option, readFile))
    .join('')
}

/** Returns whether a text is JSON once its variables are filled in with digits. */
export const isJson = (text: string): boolean => {
  try {
    JSON.parse(fillMarks(text, () => '1'))
    return true
  } catch {
    return false
  }
}

const toPair = (text: string): Pair => {
  const equals = text.indexOf('=')
  const [name, value] = equals === -1 ? [text, ''] : [text.slice(0, equals), text.slice(equals + 1)]
  return { name: decodeFormText(name), value: decodeFormText(value) }
}

/** Tells the kind of a text from its Content-Type. A text that is not of that type is only text. */
export const describeBody = (
  text: string,
  contentType: string | undefined,
  note: (sentence: string) => void,
): RequestBody => {
  const kind = contentType === undefined ? 'text' : kindOf(contentType)
  if (contentType === undefined || (kind !== 'json' && kind !== 'form')) return { kind: 'text', text, contentType }
  if (kind === 'json') {
    if (isJson(text)) return { kind, text, contentType }
    note('The body is not valid JSON, although the Content-Type says so.')
    return { kind: 'text', text, contentType }
  }
  if (/^\s*[[{]/.test(text) && isJson(text)) {
    note('The body is JSON, but curl sends it as a form, because the command sets no Content-Type for JSON.')
    return { kind: 'text', text, contentType }
  }
  return { kind, text, pairs: text === '' ? [] : text.split('&').map(toPair), contentType }
}

/** The Content-Type of a command: given, removed by `-H 'Content-Type:'`, or left to curl. */
export type GivenContentType = { value: string } | 'removed' | 'default'

export const readMultipart = (
  options: readonly GivenOption[],
  given: GivenContentType,
  readFile: FileReader,
  note: (sentence: string) => void,
): RequestBody => {
  const parts = options
    .filter(({ name }) => name === 'form' || name === 'form-string')
    .flatMap(option => readFormField(option, readFile, note))
  const contentType = typeof given === 'object' ? given.value : MULTIPART_TYPE
  if (kindOf(contentType) === 'multipart')
    return { kind: 'multipart', parts, contentType: withoutBoundary(contentType) }
  note('The Content-Type was changed to multipart/form-data, because -F sends such a body.')
  return { kind: 'multipart', parts, contentType: MULTIPART_TYPE }
}

/** Drops the boundary, which curl replaces by its own. */
const withoutBoundary = (contentType: string): string =>
  contentType
    .split(';')
    .filter(piece => !/^\s*boundary\s*=/i.test(piece))
    .join(';')
    .trim()

/** The type that curl sets for the data of a command. */
export const defaultContentType = (options: readonly GivenOption[]): string =>
  options.some(({ name }) => name === 'json') ? JSON_TYPE : FORM_TYPE
