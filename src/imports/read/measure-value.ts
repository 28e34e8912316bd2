import { formatNumber } from '../../lib/kernel/format.ts'
import type { JsonValue } from '../../lib/kernel/json.ts'
import { failure, type Result, success } from '../../lib/kernel/result.ts'
import { MAX_DESCRIPTION_DEPTH, MAX_DESCRIPTION_VALUES } from '../limits.ts'

class Unbounded extends Error {}

type Measure = { values: number; height: number }

const LEAF: Measure = { values: 1, height: 0 }

/**
 * Measures a value with its aliases expanded, in the time of a walk without expanding them. JSON has no aliases, so its
 * parts are not remembered, which saves much memory.
 */
const createMeasure = (hasAliases: boolean) => {
  const known = new Map<object, Measure | 'open'>()
  const remember = (value: object, measured: Measure | 'open'): void => {
    if (hasAliases) known.set(value, measured)
  }
  const measure = (value: unknown, depth: number): Measure => {
    if (typeof value !== 'object' || value === null) return LEAF
    const before = known.get(value)
    if (before === 'open') throw new Unbounded('It has an alias (*) that is part of what it refers to.')
    if (depth + (before?.height ?? 0) > MAX_DESCRIPTION_DEPTH) {
      throw new Unbounded(`It is nested more than ${MAX_DESCRIPTION_DEPTH} levels deep.`)
    }
    if (before !== undefined) return before
    remember(value, 'open')
    const total = { values: 1, height: 0 }
    for (const part of Object.values(value)) {
      const { values, height } = measure(part, depth + 1)
      total.values += values
      total.height = Math.max(total.height, height + 1)
    }
    if (total.values > MAX_DESCRIPTION_VALUES) {
      throw new Unbounded(`It has more than ${formatNumber(MAX_DESCRIPTION_VALUES)} values, counting repeated aliases.`)
    }
    remember(value, total)
    return total
  }
  return measure
}

/** The parsers produce nothing but JSON values, and undefined for an empty text. */
const isPlain = (value: unknown): value is JsonValue => value !== undefined

/** Returns a parsed value if it is within the limits: of depth, of values with aliases expanded, and without a cycle. */
export const measureValue = (value: unknown, { hasAliases }: { hasAliases: boolean }): Result<JsonValue, string> => {
  try {
    createMeasure(hasAliases)(value, 0)
  } catch (error) {
    if (error instanceof Unbounded) return failure(error.message)
    throw error
  }
  return isPlain(value) ? success(value) : failure('It is empty.')
}
