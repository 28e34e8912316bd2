import { isJsonObject, type JsonObject, type JsonValue } from '../../lib/kernel/json.ts'
import { memberOf, objectEntries, toList, toObject, toText } from '../openapi/nodes.ts'
import type { Description } from '../openapi/open-description.ts'

const SCHEMAS = '#/components/schemas/'
/** With more, a schema would have no room for the members of any. */
const MAX_DERIVED = 30

/** Marks a reference to a type itself, without those that are derived from it. */
const ITSELF = 'x-patchbay-itself'

const hasBranches = ({ oneOf, anyOf }: JsonObject): boolean => toList(oneOf).length + toList(anyOf).length > 0

/** Returns the reference that a node consists of, also if `allOf` is only around it to add a text. */
const referenceOf = (node: JsonObject): string => {
  const [only, ...others] = toList(node.allOf)
  const isWrapper = others.length === 0 && node.properties === undefined && !hasBranches(node)
  return toText(node.$ref) || (isWrapper ? toText(memberOf(only, '$ref')) : '')
}

/** Returns the types of a description by those from which they are derived with `allOf`. Reads each schema once. */
const indexTypes = ({ root }: Description): ReadonlyMap<string, readonly string[]> => {
  const schemas = objectEntries(toObject(root.components).schemas)
  const pairs = schemas.flatMap(([name, { allOf }]) =>
    toList(allOf).map(part => ({ base: toText(memberOf(part, '$ref')), derived: `${SCHEMAS}${name}` })),
  )
  const byBase = Map.groupBy(pairs, ({ base }) => base)
  return new Map([...byBase].map(([base, found]) => [base, found.map(({ derived }) => derived)]))
}

/** Cached per description, because each operation creates a reader. */
const knownTypes = new WeakMap<JsonObject, ReadonlyMap<string, readonly string[]>>()

const typesOf = (description: Description): ReadonlyMap<string, readonly string[]> => {
  const types = knownTypes.get(description.root) ?? indexTypes(description)
  knownTypes.set(description.root, types)
  return types
}

/** Returns a type and those that are derived from it, up to one more than are described. */
const listDerived = (base: string, types: ReadonlyMap<string, readonly string[]>): readonly string[] => {
  const found = new Set([base])
  for (const one of found) {
    if (found.size > MAX_DERIVED) break
    for (const derived of types.get(one) ?? []) found.add(derived)
  }
  return [...found]
}

/**
 * Creates a function that returns the alternatives of a node that refers to a type with a discriminator of its own or of a
 * base type: the type itself, and all types derived from it with `allOf` at any level (OpenAPI 3.1.1 §4.8.25). `schema` is
 * the type with its references replaced. Returns undefined if no type is derived from it. If there are too many, any
 * member is accepted.
 */
export const createDerivedTypes =
  (description: Description) =>
  (node: JsonValue | undefined, { discriminator, ...schema }: JsonObject): JsonObject | undefined => {
    if (!isJsonObject(node) || node[ITSELF] === true) return undefined
    const base = referenceOf(node)
    const hasNone = toText(toObject(discriminator).propertyName) === ''
    if (hasNone || hasBranches(schema) || !base.startsWith(SCHEMAS)) return undefined
    const types = listDerived(base, typesOf(description))
    if (types.length === 1) return undefined
    if (types.length > MAX_DERIVED) return { additionalProperties: true }
    return { anyOf: types.map(ref => ({ $ref: ref, [ITSELF]: true })) }
  }
