import { isDeepStrictEqual } from 'node:util'
import type { JsonValue } from '../../lib/kernel/json.ts'
import type { Member } from '../requests/members.ts'

/**
 * What the values of one place in several requests say about its parameter. A value that is the same in several requests
 * is its default, and one that some requests lack is optional.
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
