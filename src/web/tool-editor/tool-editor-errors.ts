import { AppError, type FieldError } from '../../lib/kernel/errors.ts'

/** A header of the form's text: where its name and value begin, for what is wrong with them. */
export type HeaderLine = { line: number; valueColumn: number }

/** Sentences by the field of the form that they stand beside; `''` for those that belong to none. */
export type PlacedErrors = ReadonlyMap<string, readonly string[]>

const LABELS: Readonly<Record<string, string>> = {
  name: 'name',
  title: 'title',
  description: 'description',
  method: 'method',
  url: 'URL',
  headers: 'headers',
  body: 'body',
  timeoutMs: 'time',
  cacheSeconds: 'time to keep answers',
  responseTokens: 'number of tokens',
  allowedOrigins: 'origins',
  inputSchema: 'input schema',
  outputSchema: 'output schema',
  dropFields: 'paths',
  transform: 'transform',
  maxStringLength: 'length of strings',
  toolkitTitle: 'title of the toolkit',
  organizationId: 'organization',
}

const HEADER = /^headers\[(\d+)\]\.(name|value)$/
const POSITION = /^line (\d+), column (\d+): /
const ELSEWHERE = /\b(url|body|headers\[\d+\]\.(?:name|value)), line (\d+), column (\d+)/g

type Spot = { field: string; line: number; column: number }

/** Where a position of the template is in the form: the headers stand in one text there. */
const toFormSpot = (path: string, line: number, column: number, headerLines: readonly HeaderLine[]): Spot => {
  const [, index = '', part] = HEADER.exec(path) ?? []
  const header = headerLines[Number(index)]
  if (part === undefined || header === undefined) return { field: path, line, column }
  return { field: 'headers', line: header.line, column: part === 'name' ? 1 : header.valueColumn + column - 1 }
}

const NAMES: Readonly<Record<string, string>> = { url: 'the URL', headers: 'the headers', body: 'the body' }

const capitalize = (text: string): string => text.charAt(0).toUpperCase() + text.slice(1)
const endSentence = (text: string): string => (/[.?!]$/.test(text) ? text : `${text}.`)

/** `parameters.page.size.default` is the field `parameter:page.size:default`; names may hold dots, keys do not. */
const fieldOf = (path: string): string => {
  const [, quoted, plain, key] = /^parameters(?:\["(.+)"\]|\.(.+))\.([a-z]+)$/.exec(path) ?? []
  const name = quoted ?? plain
  if (name !== undefined && key !== undefined) return `parameter:${name}:${key}`
  if (path.startsWith('response.')) return path.split(/[.[]/)[1] ?? ''
  const [first = ''] = path.split(/[.[]/, 1)
  if (first === 'annotations') return path.slice('annotations.'.length)
  return first in LABELS ? first : ''
}

/** What `work` throws of wrong input; empty where there is nothing wrong. What is of no field has an empty path. */
export const errorsOf = (work: () => unknown): readonly FieldError[] => {
  try {
    work()
    return []
  } catch (error) {
    if (!(error instanceof AppError) || error.code !== 'invalid_request') throw error
    return error.errors ?? [{ path: '', message: error.message }]
  }
}

const describe = ({ path, message }: FieldError, headerLines: readonly HeaderLine[]) => {
  const mentioned: string[] = []
  const told = message.replace(ELSEWHERE, (_match, at: string, line: string, column: string) => {
    const spot = toFormSpot(at, Number(line), Number(column), headerLines)
    mentioned.push(spot.field)
    return `${NAMES[spot.field]} (line ${spot.line}, column ${spot.column})`
  })
  const position = POSITION.exec(told)
  if (position !== null) {
    const [prefix, line, column] = position
    const spot = toFormSpot(path, Number(line), Number(column), headerLines)
    const field = HEADER.test(path) ? 'headers' : fieldOf(path)
    const rest = told.slice(prefix.length)
    // What names its places itself is told in the same words beside each.
    const text = mentioned.length > 0 ? capitalize(rest) : `Line ${spot.line}, column ${spot.column}: ${rest}`
    return { fields: [field, ...mentioned], text }
  }
  const field = fieldOf(path)
  const [, index] = /^allowedOrigins\[(\d+)\]/.exec(path) ?? []
  if (index !== undefined) return { fields: [field], text: `Line ${Number(index) + 1} ${told}` }
  const [, dropped] = /^response\.dropFields\[(\d+)\]/.exec(path) ?? []
  if (dropped !== undefined) return { fields: [field], text: `Line ${Number(dropped) + 1}, ${told}` }
  const label = LABELS[field]
  // What is said of a parameter begins with its name, which its row says already.
  const bare = field.startsWith('parameter:') ? told.replace(/^[A-Za-z0-9_.-]+: /, '') : told
  return { fields: [field, ...mentioned], text: label === undefined ? capitalize(bare) : `The ${label} ${told}` }
}

/** Puts each error beside the field that it is in, and what speaks of two places beside both. */
export const placeErrors = (errors: readonly FieldError[], headerLines: readonly HeaderLine[]): PlacedErrors => {
  const placed = new Map<string, string[]>()
  for (const error of errors) {
    const { fields, text } = describe(error, headerLines)
    for (const field of new Set(fields)) {
      const sentence = endSentence(text)
      const there = placed.get(field) ?? []
      if (!there.includes(sentence)) placed.set(field, [...there, sentence])
    }
  }
  return placed
}
