import type { FieldError } from '../../lib/kernel/errors.ts'
import { parseJson } from '../../lib/kernel/json.ts'
import { failure, type Result, success } from '../../lib/kernel/result.ts'
import { linesOf } from '../frame/lines-of.ts'

/** The string or name-value pair read from a line, or an error. */
type Read<T> = Result<T, string>

/** Writes text as one line. Uses a JSON string if the text would be read differently without quotes. */
const toLine = (text: string): string =>
  text === '' || text.startsWith('"') || text !== text.trim() || /[\r\n]/.test(text) ? JSON.stringify(text) : text

const fromLine = (line: string): Read<string> => {
  if (!line.startsWith('"')) return success(line)
  const parsed = parseJson(line, 1)
  return parsed.ok && typeof parsed.value === 'string'
    ? success(parsed.value)
    : failure('starts with a double quote but is not a valid JSON string')
}

/** Writes one string per line. */
export const writeTexts = (texts: readonly string[]): string => texts.map(toLine).join('\n')

/** Reads one string per line. Calls `complain` for each invalid line. */
export const readTexts = (typed: string, complain: (message: string) => void): string[] =>
  linesOf(typed).flatMap((line, index) => {
    const read = fromLine(line)
    if (read.ok) return read.value
    complain(`number ${index + 1} ${read.error}`)
    return []
  })

type PairFormat = { separator: ':' | '='; example: string }
export const HEADER_LINES: PairFormat = { separator: ':', example: 'Name: value' }
export const VARIABLE_LINES: PairFormat = { separator: '=', example: 'NAME=value' }

/** Writes each name and its value on one line. */
export const writePairs = (pairs: Readonly<Record<string, string>>, { separator }: PairFormat): string =>
  Object.entries(pairs)
    .map(([name, value]) => `${name}${separator === ':' ? ': ' : '='}${value === '' ? '' : toLine(value)}`)
    .join('\n')

/** Reads a name and a value from each line. Calls `complain` for each invalid line and each repeated name. */
export const readPairs = (
  typed: string,
  { separator, example }: PairFormat,
  complain: (message: string) => void,
): Record<string, string> => {
  const pairs = new Map<string, string>()
  for (const [index, line] of linesOf(typed).entries()) {
    const at = line.indexOf(separator)
    const name = line.slice(0, Math.max(at, 0)).trim()
    const value = fromLine(line.slice(at + 1).trim())
    if (name === '') complain(`number ${index + 1} must have the form ${example}`)
    else if (!value.ok) complain(`number ${index + 1} ${value.error}`)
    else if (pairs.has(name)) complain(`${name} appears twice`)
    else pairs.set(name, value.value)
  }
  return Object.fromEntries(pairs)
}

/** Converts an error in a single header, variable, argument, pattern or scope to an error in its form field. */
const toFieldError = ({ path, message }: FieldError): FieldError => {
  const [, record, name] = /^(headers|env)\.(.*)$/s.exec(path) ?? []
  if (record !== undefined) return { path: record, message: `${name} ${message}` }
  const [, authField, scope] = /^auth\.([a-zA-Z]+)(?:\[(\d+)\])?$/.exec(path) ?? []
  if (authField !== undefined) {
    return { path: authField, message: scope === undefined ? message : `number ${Number(scope) + 1} ${message}` }
  }
  const [, list, index] = /^(args|urls|allow|deny)\[(\d+)\]$/.exec(path) ?? []
  return list === undefined ? { path, message } : { path: list, message: `number ${Number(index) + 1} ${message}` }
}

/** Returns the first error for each field of the form. */
export const toFieldErrors = (errors: readonly FieldError[]): FieldError[] => {
  const first = new Map<string, FieldError>()
  for (const error of errors.map(toFieldError)) if (!first.has(error.path)) first.set(error.path, error)
  return [...first.values()]
}
