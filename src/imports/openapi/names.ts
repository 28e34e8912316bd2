import { RESERVED_TOOL_PREFIX } from '../../lib/kernel/names.ts'
import { MAX_PARAMETER_NAME_CHARS } from '../../templates/limits.ts'

const MAX_TOOL_NAME_CHARS = 64
/** A name is cut between words, unless that would cut off more than this share of it. */
const MIN_KEPT = 0.6

/** Only the beginning of a longer text is read: the expressions take quadratic time, and names are shorter. */
const MAX_READ_CHARS = 1_000

const toSnakeCase = (text: string): string =>
  text
    .slice(0, MAX_READ_CHARS)
    .normalize('NFKD')
    .replaceAll(/\p{M}/gu, '')
    .replaceAll(/([a-z0-9])([A-Z])/g, '$1_$2')
    .replaceAll(/([A-Z]+)([A-Z][a-z])/g, '$1_$2')
    .toLowerCase()
    .replaceAll(/[^a-z0-9]+/g, '_')
    .replaceAll(/^_+|_+$/g, '')

const cutName = (name: string, maxChars: number): string => {
  if (name.length <= maxChars) return name
  for (let end = maxChars; end > maxChars * MIN_KEPT; end--) {
    if (/[A-Z_-]/.test(name.charAt(end))) return name.slice(0, end)
  }
  return name.slice(0, maxChars)
}

/** Returns a name from the words of the path: `get_users_by_id` for `GET /v1/users/{id}`. */
const nameOfPath = (method: string, path: string): string => {
  const [pathname = ''] = path.split('?', 1)
  const words = pathname
    .split('/')
    .filter(part => part !== '' && !/^v\d+(?:\.\d+)*$/i.test(part))
    .map(part => toSnakeCase(part.replaceAll('{', 'by_')))
  return [toSnakeCase(method), ...words].filter(word => word !== '').join('_')
}

/** The numbers up to which names are taken, by their bases, so that thousands of equal names take linear time. */
const takenNumbers = new WeakMap<Set<string>, Map<string, number>>()

/** Returns the first name of a series that is not taken, and marks it as taken. The series of a base is always the same. */
const claimFirst = (base: string, taken: Set<string>, nameAt: (number: number) => string): string => {
  const numbers = takenNumbers.get(taken) ?? new Map<string, number>()
  takenNumbers.set(taken, numbers)
  let number = numbers.get(base) ?? 1
  while (taken.has(nameAt(number))) number++
  numbers.set(base, number)
  const name = nameAt(number)
  taken.add(name)
  return name
}

/** Adds a number to a name that is taken, and marks it as taken. */
const claim = (base: string, taken: Set<string>): string =>
  claimFirst(base, taken, number => {
    const suffix = `_${number}`
    return number === 1 ? base : cutName(base, MAX_TOOL_NAME_CHARS - suffix.length) + suffix
  })

const capitalized = (word: string): string => word.charAt(0).toUpperCase() + word.slice(1)

export const NAME_STYLES = ['snake_case', 'camelCase', 'kebab-case'] as const
export type NameStyle = (typeof NAME_STYLES)[number]

/** A prefix is part of the first word only if something separates them. */
const STYLES: Readonly<Record<NameStyle, (words: readonly string[], prefix: string) => string>> = {
  snake_case: (words, prefix) => prefix + words.join('_'),
  'kebab-case': (words, prefix) => prefix + words.join('-'),
  camelCase: (words, prefix) =>
    prefix + words.map((word, index) => (index > 0 || /[A-Za-z0-9]$/.test(prefix) ? capitalized(word) : word)).join(''),
}

/** The source of a tool's name: `text`, or the method and path if it is empty. */
export type NamedOperation = { text: string; method: string; path: string }

/** Returns the name of the tool for an operation. It may be too long. */
export const longToolNameOf = (
  { text, method, path }: NamedOperation,
  { prefix, style }: { prefix: string; style: NameStyle } = { prefix: '', style: 'snake_case' },
): string => {
  const words = (toSnakeCase(text) || nameOfPath(method, path) || 'call').split('_')
  const name = STYLES[style](words, prefix)
  if (/^[A-Za-z]/.test(name) && !name.startsWith(RESERVED_TOOL_PREFIX)) return name
  return STYLES[style]([toSnakeCase(method) || 'call', ...words], prefix)
}

/** Returns the first 64 characters of a name at most, cut between words. */
export const cutToolName = (name: string): string => cutName(name, MAX_TOOL_NAME_CHARS)

/** Cuts a name to 64 characters, adds a number if it is taken, and marks it as taken. */
export const claimToolName = (name: string, taken: Set<string>): string => claim(cutToolName(name), taken)

/**
 * Returns the name of the tool for an operation, from its operationId, or its method and path: snake case, at most 64
 * characters. Adds it to `taken`.
 */
export const toolNameOf = (
  { operationId, method, path }: { operationId: string; method: string; path: string },
  taken: Set<string>,
): string => claimToolName(longToolNameOf({ text: operationId, method, path }), taken)

/** Returns a text as the key of a global, such as `api_key` for `ApiKey`. */
export const globalKeyOf = (text: string, fallback: string): string => {
  const key = toSnakeCase(text).slice(0, MAX_PARAMETER_NAME_CHARS) || fallback
  return /^\d/.test(key) ? `_${key}`.slice(0, MAX_PARAMETER_NAME_CHARS) : key
}

/** Returns a name that is not in `taken`, with a number if necessary, and adds it there. */
export const claimKey = claim

/** Returns the key of an operation. Paths that were shortened, or from which secrets were removed, can be the same. */
export const claimOperationKey = (key: string, taken: Set<string>): string =>
  claimFirst(key, taken, number => (number === 1 ? key : `${key} (${number})`))

/** Returns whether a parameter can keep its name. */
export const isParameterName = (name: string): boolean =>
  name.length <= MAX_PARAMETER_NAME_CHARS && /^[A-Za-z_][A-Za-z0-9_.-]*$/.test(name) && name !== '__proto__'

/**
 * Returns a parameter's name in the template: `filter_a` for `filter[a]`, and `id_body` for the member `id` of the body
 * if there is an `id` already. Adds it to `taken`.
 */
export const parameterNameOf = (name: string, place: string, taken: Set<string>): string => {
  const written = name
    .slice(0, MAX_READ_CHARS)
    .replaceAll('<', '_lt')
    .replaceAll('>', '_gt')
    .replaceAll(/[^A-Za-z0-9_.-]+/g, '_')
    .replaceAll(/^[^A-Za-z_]+|_+$/g, '')
  const base = (isParameterName(name) ? name : written === '__proto' ? 'proto' : written || place).slice(
    0,
    MAX_PARAMETER_NAME_CHARS,
  )
  return claimFirst(`${place} ${base}`, taken, number => {
    const suffix = `_${number === 2 ? place : number - 1}`
    return number === 1 ? base : base.slice(0, MAX_PARAMETER_NAME_CHARS - suffix.length) + suffix
  })
}
