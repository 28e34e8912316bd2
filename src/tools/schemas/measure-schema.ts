import { RE2JS } from 're2js'
import { isJsonObject, type JsonObject, type JsonValue } from '../../lib/kernel/json.ts'

/** What checking a value against a schema may cost. */
export type SchemaMeasure = {
  /** Values in the schema as written. The time to compile it is proportional to this. */
  size: number
  /** Subschemas with every reference expanded, plus instructions of patterns. Infinite if the schema is recursive. */
  nodes: number
  hasUniqueItems: boolean
  /** Whether the schema or a subschema has an `$id`, which changes the meaning of references. */
  hasIds: boolean
  /** A reference without a target, if there is one. Unknown if `hasIds`. */
  deadReference: string | undefined
}

/** Characters of a string that count as one value. */
const CHARACTERS_PER_VALUE = 16

/** Counts the values in JSON, containers included. Stops at `limit`. */
export const countValues = (value: JsonValue, limit = Number.POSITIVE_INFINITY): number => {
  if (typeof value === 'string') return Math.max(1, Math.ceil(value.length / CHARACTERS_PER_VALUE))
  let count = 1
  if (typeof value !== 'object' || value === null) return count
  for (const [name, member] of Array.isArray(value) ? value.entries() : Object.entries(value)) {
    if (count > limit) break
    if (typeof name === 'string') count += Math.floor(name.length / CHARACTERS_PER_VALUE)
    count += countValues(member, limit - count)
  }
  return count
}

/** Keywords whose value is a schema, or an array of schemas. */
const SCHEMAS: ReadonlySet<string> = new Set([
  'additionalItems',
  'additionalProperties',
  'allOf',
  'anyOf',
  'contains',
  'contentSchema',
  'else',
  'if',
  'items',
  'not',
  'oneOf',
  'prefixItems',
  'propertyNames',
  'then',
  'unevaluatedItems',
  'unevaluatedProperties',
])
/** Keywords whose value maps names to schemas that apply. */
const NAMED_SCHEMAS: ReadonlySet<string> = new Set(['dependencies', 'dependentSchemas', 'properties'])
/** Keywords whose value is compared with the data. */
const DATA: ReadonlySet<string> = new Set(['const', 'dependentRequired', 'enum', 'required'])
/** Subschemas that apply only through a reference. */
const DEFINITIONS: ReadonlySet<string> = new Set(['$defs', 'definitions'])
/** References whose target depends on the position in the data. */
const DYNAMIC: ReadonlySet<string> = new Set(['$dynamicRef', '$recursiveRef'])

/** A pattern with a higher estimate is not compiled here, because compiling may take seconds. */
const MAX_COMPILED_INSTRUCTIONS = 20_000
/** RE2 rejects patterns with more repetitions, nested ones included. */
const MAX_REPETITIONS = 1_000
const INSTRUCTIONS_PER_CHARACTER = 4

const estimateInstructions = (pattern: string): number => {
  let repetitions = 1
  for (const [, least = '', most = ''] of pattern.matchAll(/\{(\d+),?(\d*)\}/g)) {
    repetitions = Math.min(MAX_REPETITIONS, repetitions * Math.max(1, Number(least), Number(most)))
  }
  return pattern.length * INSTRUCTIONS_PER_CHARACTER * repetitions
}

/** Returns the instructions of a pattern. An estimate may be too high. */
const countInstructions = (pattern: string): number => {
  const estimate = estimateInstructions(pattern)
  if (estimate > MAX_COMPILED_INSTRUCTIONS) return estimate
  try {
    return RE2JS.compile(pattern).programSize()
  } catch {
    // Compiling the schema reports the error.
    return estimate
  }
}

const decodePointer = (token: string): string | undefined => {
  try {
    return decodeURIComponent(token).replaceAll('~1', '/').replaceAll('~0', '~')
  } catch {
    return undefined
  }
}

const findAt = (root: JsonObject, pointer: string): JsonValue | undefined => {
  let found: JsonValue | undefined = root
  for (const token of pointer.split('/').slice(1)) {
    const name = decodePointer(token)
    const isContainer: boolean = typeof found === 'object' && found !== null
    if (name === undefined || !isContainer || !Object.hasOwn(Object(found), name)) return undefined
    found = Array.isArray(found) ? found[Number(name)] : isJsonObject(found) ? found[name] : undefined
  }
  return found
}

const isSchema = (value: JsonValue | undefined): value is JsonObject | boolean =>
  typeof value === 'boolean' || isJsonObject(value)

/** Collects all anchors, and finds out whether there is an id. Includes keywords in values that are not schemas. */
const collectNames = (root: JsonObject) => {
  const anchors = new Map<string, JsonObject>()
  let hasIds = false
  const visit = (value: JsonValue): void => {
    if (Array.isArray(value)) value.forEach(visit)
    if (!isJsonObject(value)) return
    const { $anchor, $dynamicAnchor } = value
    for (const anchor of [$anchor, $dynamicAnchor]) if (typeof anchor === 'string') anchors.set(anchor, value)
    if (typeof value.$id === 'string') hasIds = true
    Object.values(value).forEach(visit)
  }
  visit(root)
  return { anchors, hasIds }
}

/**
 * Measures a schema without expanding its references. Counts each subschema once, and adds that
 * count wherever it is used.
 */
export const measureSchema = (root: JsonObject): SchemaMeasure => {
  const { anchors, hasIds } = collectNames(root)
  const counted = new Map<JsonObject, number>()
  const open = new Set<JsonObject>()
  let hasUniqueItems = false
  let deadReference: string | undefined

  const resolve = (reference: string): JsonValue | undefined => {
    if (reference === '#' || reference === '') return root
    if (reference.startsWith('#/')) return findAt(root, reference)
    return reference.startsWith('#') ? anchors.get(reference.slice(1)) : undefined
  }
  const countReference = (reference: JsonValue): number => {
    const target = typeof reference === 'string' ? resolve(reference) : undefined
    if (isSchema(target)) return count(target)
    deadReference ??= String(reference)
    return Number.POSITIVE_INFINITY
  }
  const sum = (schemas: readonly JsonValue[]): number => schemas.reduce((nodes: number, one) => nodes + count(one), 0)
  const countKeyword = (keyword: string, value: JsonValue): number => {
    if (DEFINITIONS.has(keyword)) return 0
    if (DYNAMIC.has(keyword)) return Number.POSITIVE_INFINITY
    if (DATA.has(keyword)) return countValues(value)
    if (keyword === '$ref') return countReference(value)
    if (keyword === 'pattern' && typeof value === 'string') return countInstructions(value)
    if (keyword === 'uniqueItems' && value === true) hasUniqueItems = true
    if (keyword === 'patternProperties' && isJsonObject(value)) {
      return sum(Object.values(value)) + Object.keys(value).reduce((size, key) => size + countInstructions(key), 0)
    }
    if (NAMED_SCHEMAS.has(keyword) && isJsonObject(value)) return sum(Object.values(value))
    if (SCHEMAS.has(keyword)) return Array.isArray(value) ? sum(value) : count(value)
    return 0
  }
  const count = (schema: JsonValue): number => {
    if (!isJsonObject(schema)) return 1
    const known = counted.get(schema)
    if (known !== undefined) return known
    if (open.has(schema)) return Number.POSITIVE_INFINITY
    open.add(schema)
    let nodes = 1
    for (const [keyword, value] of Object.entries(schema)) nodes += countKeyword(keyword, value)
    open.delete(schema)
    counted.set(schema, nodes)
    return nodes
  }

  const nodes = count(root)
  return {
    size: countValues(root),
    nodes: hasIds ? Number.POSITIVE_INFINITY : nodes,
    hasUniqueItems,
    hasIds,
    deadReference: hasIds ? undefined : deadReference,
  }
}
