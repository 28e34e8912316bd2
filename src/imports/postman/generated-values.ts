import type { ParameterType } from '../../templates/template.ts'

/** What generators of collections write in place of a value, as in `<integer>`. All other names are those of strings. */
const TYPES: ReadonlyMap<string, ParameterType> = new Map([
  ['integer', 'integer'],
  ['long', 'integer'],
  ['number', 'number'],
  ['float', 'number'],
  ['double', 'number'],
  ['boolean', 'boolean'],
])

/** How Postman's own generator starts the description of what the API requires. */
const REQUIRED = /^\s*\(Required\)\s*/

/** What other generators write, percent-encoded in a query. */
const EMPTY = /^(?:\{\}|%7B%7D)$/i

/** Reads a value that is only a type. Such a parameter is required if its description says so. */
export const readTypeOnly = (
  value: string,
  description: string,
): { type: ParameterType; isOptional: boolean } | undefined => {
  const name = /^<([a-z]{1,20})>$/i.exec(value)?.[1] ?? (EMPTY.test(value) ? 'string' : undefined)
  if (name === undefined) return undefined
  return { type: TYPES.get(name.toLowerCase()) ?? 'string', isOptional: !REQUIRED.test(description) }
}

export const withoutRequired = (description: string): string => description.replace(REQUIRED, '')
