import { isJsonObject, type JsonObject, type JsonValue } from '../../lib/kernel/json.ts'
import { NAMED_SCHEMAS, SUBSCHEMAS } from '../../lib/kernel/json-schema.ts'
import { createQuickInstructionCounter, type InstructionCounter } from './pattern-size.ts'

/** The cost of checking a value against a schema. */
export type SchemaMeasure = {
  /** Number of values in the schema as written. Strings count as one, because the length of descriptions costs nothing. */
  size: number
  /**
   * Number of subschemas with every reference expanded, plus one per instruction of the compiled patterns. Infinite if
   * the schema is recursive or has references that are not followed here.
   */
  nodes: number
  hasUniqueItems: boolean
}

/** Number of characters in a string that count as one value. */
const CHARACTERS_PER_VALUE = 16

/** Counts the values in JSON, including containers. Stops at `limit`. */
export const countValues = (
  value: JsonValue,
  limit = Number.POSITIVE_INFINITY,
  charactersPerValue = CHARACTERS_PER_VALUE,
): number => {
  if (typeof value === 'string') return Math.max(1, Math.ceil(value.length / charactersPerValue))
  let count = 1
  if (Array.isArray(value)) {
    for (const item of value) {
      if (count > limit) break
      count += countValues(item, limit - count, charactersPerValue)
    }
  } else if (isJsonObject(value)) {
    // Object.entries would list all members of a large object before the limit applies.
    for (const name in value) {
      if (count > limit) break
      count += Math.floor(name.length / charactersPerValue)
      count += countValues(value[name] ?? null, limit - count, charactersPerValue)
    }
  }
  return count
}

/** Keywords whose value is compared with the data. */
const DATA: ReadonlySet<string> = new Set(['const', 'dependentRequired', 'enum', 'required'])
/** Subschemas that apply only through a reference. */
const DEFINITIONS: ReadonlySet<string> = new Set(['$defs', 'definitions'])
/** Keywords that change what references mean, or have targets that depend on the data. */
const UNMEASURED: ReadonlySet<string> = new Set(['$async', '$dynamicRef', '$id', '$recursiveRef', 'id'])

/**
 * Matches fragments that are plain JSON Pointers. All other references are left to the compiler, whose rules are
 * complex.
 */
const POINTER = /^#(?:\/[^/#%]+)*$/

const findAt = (root: JsonObject, pointer: string): JsonValue | undefined => {
  let found: JsonValue | undefined = root
  for (const token of pointer.split('/').slice(1)) {
    if (!isJsonObject(found) && !Array.isArray(found)) return undefined
    const name = token.replaceAll('~1', '/').replaceAll('~0', '~')
    if (!Object.hasOwn(found, name)) return undefined
    found = Array.isArray(found) ? found[Number(name)] : found[name]
  }
  return found
}

const isSchema = (value: JsonValue | undefined): value is JsonObject | boolean =>
  typeof value === 'boolean' || isJsonObject(value)

/** Adds two counts. Caps finite sums, because infinity is reserved for unbounded schemas. */
const add = (one: number, other: number): number =>
  one + other === Number.POSITIVE_INFINITY ? one + other : Math.min(one + other, Number.MAX_SAFE_INTEGER)

const createCounter = (root: JsonObject, countInstructions: InstructionCounter) => {
  const counted = new Map<JsonObject, number>()
  const open = new Set<JsonObject>()
  const counter = { hasUniqueItems: false, count: (schema: JsonValue): number => count(schema) }

  const sum = (schemas: readonly JsonValue[]): number =>
    schemas.reduce((nodes: number, one) => add(nodes, count(one)), 0)
  const countReference = (reference: JsonValue): number => {
    const target = typeof reference === 'string' && POINTER.test(reference) ? findAt(root, reference) : undefined
    return isSchema(target) ? count(target) : Number.POSITIVE_INFINITY
  }
  const countNamed = (schemas: JsonObject): number =>
    // A member of `dependencies` may be an array of names instead of a schema.
    Object.values(schemas).reduce(
      (nodes: number, one) => add(nodes, Array.isArray(one) ? countValues(one) : count(one)),
      0,
    )
  const countKeyword = (keyword: string, value: JsonValue): number => {
    if (DEFINITIONS.has(keyword)) return 0
    if (UNMEASURED.has(keyword)) return Number.POSITIVE_INFINITY
    if (DATA.has(keyword)) return countValues(value)
    if (keyword === '$ref') return countReference(value)
    if (keyword === 'pattern' && typeof value === 'string') return countInstructions(value)
    if (keyword === 'uniqueItems' && value === true) counter.hasUniqueItems = true
    if (keyword === 'patternProperties' && isJsonObject(value)) {
      const patterns = Object.keys(value).reduce((size, key) => size + countInstructions(key), 0)
      return add(patterns, countNamed(value))
    }
    const isNamed = NAMED_SCHEMAS.has(keyword) || keyword === 'dependencies'
    if (isNamed && isJsonObject(value)) return countNamed(value)
    if (SUBSCHEMAS.has(keyword)) return Array.isArray(value) ? sum(value) : count(value)
    return 0
  }
  const count = (schema: JsonValue): number => {
    if (!isJsonObject(schema)) return 1
    const known = counted.get(schema)
    if (known !== undefined) return known
    if (open.has(schema)) return Number.POSITIVE_INFINITY
    open.add(schema)
    let nodes = 1
    for (const [keyword, value] of Object.entries(schema)) nodes = add(nodes, countKeyword(keyword, value))
    open.delete(schema)
    counted.set(schema, nodes)
    return nodes
  }
  return counter
}

/**
 * Measures a schema without expanding its references. Counts each subschema once and adds that count wherever the
 * subschema is used. By default, takes little time, and overestimates patterns that would take long to compile.
 */
export const measureSchema = (
  root: JsonObject,
  countInstructions: InstructionCounter = createQuickInstructionCounter(),
): SchemaMeasure => {
  const counter = createCounter(root, countInstructions)
  try {
    const nodes = counter.count(root)
    return {
      size: countValues(root, undefined, Number.POSITIVE_INFINITY),
      nodes,
      hasUniqueItems: counter.hasUniqueItems,
    }
  } catch (error) {
    // A chain of references exhausted the stack.
    if (!(error instanceof RangeError)) throw error
    const { POSITIVE_INFINITY } = Number
    return { size: POSITIVE_INFINITY, nodes: POSITIVE_INFINITY, hasUniqueItems: true }
  }
}
