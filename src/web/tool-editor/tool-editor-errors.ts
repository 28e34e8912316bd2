import { AppError, type FieldError } from '../../lib/kernel/errors.ts'

/** Position of a header within the text of the headers field. */
export type HeaderLine = { line: number; valueColumn: number }

/** Error messages by form field. The key `''` has the messages that belong to no field. */
export type PlacedErrors = ReadonlyMap<string, readonly string[]>

const LABELS: Readonly<Record<string, string>> = {
  name: 'name',
  title: 'title',
  description: 'description',
  method: 'method',
  url: 'URL',
  headers: 'headers',
  body: 'body',
  timeoutMs: 'timeout',
  retries: 'number of retries',
  callPrice: 'price per call',
  cacheSeconds: 'cache time',
  responseTokens: 'number of tokens',
  allowedOrigins: 'origins',
  inputSchema: 'input schema',
  outputSchema: 'output schema',
  dropFields: 'paths',
  transform: 'transform',
  maxStringLength: 'max string length',
  cursorParameter: 'cursor parameter',
  cursorPath: 'path to the cursor',
  toolkitTitle: 'toolkit title',
  organizationId: 'organization',
}

const HEADER = /^headers\[(\d+)\]\.(name|value)$/
const POSITION = /^line (\d+), column (\d+): /
const ELSEWHERE = /\b(url|body|headers\[\d+\]\.(?:name|value)), line (\d+), column (\d+)/g

/** Converts a position in the template to a position in the form, where all headers share one field. */
const toFormPosition = (path: string, line: number, column: number, headerLines: readonly HeaderLine[]) => {
  const [, index = '', part] = HEADER.exec(path) ?? []
  const header = headerLines[Number(index)]
  if (part === undefined || header === undefined) return { field: path, line, column }
  return { field: 'headers', line: header.line, column: part === 'name' ? 1 : header.valueColumn + column - 1 }
}

const NAMES: Readonly<Record<string, string>> = { url: 'the URL', headers: 'the headers', body: 'the body' }

const capitalize = (text: string): string => text.charAt(0).toUpperCase() + text.slice(1)
const endSentence = (text: string): string => (/[.?!]$/.test(text) ? text : `${text}.`)

/** Errors of a default binding are shown beside its key. */
const KEY_FIELDS: Readonly<Record<string, string>> = { binding: 'key' }

/** Errors of typed values of secrets are at `secrets.<parameter>`. */
const SECRETS = 'secrets.'

/** Converts `parameters.page.size.default` to `parameter:page.size:default`. Names may contain dots, keys do not. */
const fieldOf = (path: string): string => {
  const ofParameter = path.replace(/\.binding\.value$/, '.fixed').replace(/\.binding\.[a-z]+$/, '.binding')
  const [, quoted, plain, key] = /^parameters(?:\["(.+)"\]|\.(.+))\.([a-z]+)$/.exec(ofParameter) ?? []
  const name = quoted ?? plain
  if (path.startsWith(SECRETS)) return `parameter:${path.slice(SECRETS.length)}:secret`
  if (name !== undefined && key !== undefined) return `parameter:${name}:${KEY_FIELDS[key] ?? key}`
  if (path.startsWith('pagination.')) return path === 'pagination.at' ? 'cursorPath' : 'cursorParameter'
  if (path.startsWith('response.')) return path.split(/[.[]/)[1] ?? ''
  const [first = ''] = path.split(/[.[]/, 1)
  if (first === 'annotations') return path.slice('annotations.'.length)
  return first in LABELS ? first : ''
}

/** Returns the result of `work`, or the validation errors that it throws. Errors without a field have an empty path. */
export const tryInput = <T>(work: () => T): { value: T | undefined; errors: readonly FieldError[] } => {
  try {
    return { value: work(), errors: [] }
  } catch (error) {
    if (!(error instanceof AppError) || error.code !== 'invalid_request') throw error
    return { value: undefined, errors: error.errors ?? [{ path: '', message: error.message }] }
  }
}

export const errorsOf = (work: () => unknown): readonly FieldError[] => tryInput(work).errors

const describe = ({ path, message }: FieldError, headerLines: readonly HeaderLine[]) => {
  const mentioned: string[] = []
  const text = message.replace(ELSEWHERE, (_match, at: string, line: string, column: string) => {
    const position = toFormPosition(at, Number(line), Number(column), headerLines)
    mentioned.push(position.field)
    return `${NAMES[position.field]} (line ${position.line}, column ${position.column})`
  })
  const match = POSITION.exec(text)
  if (match !== null) {
    const [prefix, line, column] = match
    const position = toFormPosition(path, Number(line), Number(column), headerLines)
    const field = HEADER.test(path) ? 'headers' : fieldOf(path)
    const rest = text.slice(prefix.length)
    // A message that mentions both positions is shown unchanged beside both fields.
    const sentence =
      mentioned.length > 0 ? capitalize(rest) : `Line ${position.line}, column ${position.column}: ${rest}`
    return { fields: [field, ...mentioned], text: sentence }
  }
  const field = fieldOf(path)
  const [, index] = /^allowedOrigins\[(\d+)\]/.exec(path) ?? []
  if (index !== undefined) return { fields: [field], text: `Line ${Number(index) + 1} ${text}` }
  const [, dropped] = /^response\.dropFields\[(\d+)\]/.exec(path) ?? []
  if (dropped !== undefined) return { fields: [field], text: `Line ${Number(dropped) + 1}, ${text}` }
  const label = LABELS[field]
  // The parameter's row already shows its name.
  const bare = field.startsWith('parameter:') ? text.replace(/^[A-Za-z0-9_.-]+: /, '') : text
  return { fields: [field, ...mentioned], text: label === undefined ? capitalize(bare) : `The ${label} ${text}` }
}

/** Assigns each error to its field. An error that mentions two fields is shown beside both. */
export const placeErrors = (errors: readonly FieldError[], headerLines: readonly HeaderLine[]): PlacedErrors => {
  const placed = new Map<string, string[]>()
  for (const error of errors) {
    const { fields, text } = describe(error, headerLines)
    for (const field of new Set(fields)) {
      const sentence = endSentence(text)
      const sentences = placed.get(field) ?? []
      if (!sentences.includes(sentence)) placed.set(field, [...sentences, sentence])
    }
  }
  return placed
}
