import { isDeepStrictEqual } from 'node:util'
import type { JsonValue } from '../../lib/kernel/json.ts'
import type { Member } from '../requests/members.ts'

/**
 * Derives a parameter from the values that several requests have in one place. A value that all of them share is the
 * default. If some have none, the parameter is optional.
 */
export const combineValues = (
  values: readonly JsonValue[],
  requests: number,
): Pick<Member, 'isOptional' | 'default' | 'example'> => {
  const [first, ...others] = values
  if (first === undefined) return {}
  const isOptional = values.length < requests
  const isSame = others.length > 0 && others.every(value => isDeepStrictEqual(value, first))
  if (isOptional) return { isOptional, example: first }
  return isSame ? { default: first } : { example: first }
}

/** Returns the values by key, with the keys in the order in which they first occur. */
export const groupByKey = <Value>(
  requests: readonly (readonly (readonly [string, Value])[])[],
): Map<string, Value[]> => {
  const byKey = new Map<string, Value[]>()
  for (const [key, value] of requests.flat()) {
    const values = byKey.get(key)
    if (values === undefined) byKey.set(key, [value])
    else values.push(value)
  }
  return byKey
}
