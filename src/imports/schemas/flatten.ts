import { isDeepStrictEqual } from 'node:util'
import { isJsonObject, type JsonObject, type JsonValue } from '../../lib/kernel/json.ts'
import { memberOf, toList, toObject, toText } from '../openapi/nodes.ts'
import type { Description } from '../openapi/open-description.ts'
import { isNullable } from './keywords.ts'

/** Parts of one schema that are combined. Schemas that refer to each other in `allOf` could have any number of them. */
const MAX_PARTS = 500

/** A schema without `$ref` and `allOf` at its top, and the references that led to it. */
export type FlatSchema = { schema: JsonObject; refs: readonly string[] }

const COMBINED: ReadonlySet<string> = new Set(['properties', 'required', 'enum', '$ref', 'allOf'])

/** Merges the members of all parts at once: one after the other would take quadratic time. */
const mergeProperties = (parts: readonly JsonObject[]): JsonObject => {
  const merged = new Map<string, JsonValue>()
  for (const [name, schema] of parts.flatMap(({ properties }) => Object.entries(toObject(properties)))) {
    const own = merged.get(name)
    merged.delete(name)
    merged.set(name, own === undefined || isDeepStrictEqual(own, schema) ? schema : { allOf: [own, schema] })
  }
  return Object.fromEntries(merged)
}

const mergeEnums = (first: JsonValue | undefined, second: JsonValue | undefined): JsonValue | undefined => {
  if (!Array.isArray(first) || !Array.isArray(second)) return first ?? second
  const others = new Set(second.map(value => JSON.stringify(value)))
  return first.filter(value => others.has(JSON.stringify(value)))
}

const othersOf = (schema: JsonObject) => Object.entries(schema).filter(([key]) => !COMBINED.has(key))

/** Combines schemas that all apply. The texts and limits of the first ones win. */
const mergeSchemas = (parts: readonly JsonObject[]): JsonObject => {
  const allowed = parts.map(part => part.enum).reduce<JsonValue | undefined>(mergeEnums, undefined)
  const required = [...new Set(parts.flatMap(part => toList(part.required)))]
  const hasProperties = parts.some(({ properties }) => properties !== undefined)
  return {
    ...Object.fromEntries(parts.toReversed().flatMap(othersOf)),
    ...(hasProperties && { properties: mergeProperties(parts) }),
    ...(required.length > 0 && { required }),
    ...(allowed !== undefined && { enum: allowed }),
  }
}

const isNullBranch = (branch: JsonValue): boolean =>
  isJsonObject(branch) && (branch.type === 'null' || isDeepStrictEqual(branch.enum, [null]) || branch.const === null)

/** Returns the alternatives of a schema, without null. */
export const branchesOf = (schema: JsonObject): readonly JsonValue[] => {
  const branches = [schema.oneOf, schema.anyOf].map(toList).find(({ length }) => length > 0) ?? []
  return branches.filter(branch => !isNullBranch(branch))
}

export const hasNullBranch = (schema: JsonObject): boolean =>
  [schema.oneOf, schema.anyOf].some(branches => toList(branches).some(isNullBranch))

/**
 * Leaves the alternatives of a base type out of a type that is one of them: the base may list the types that are derived
 * from it.
 */
const withoutOwnBranches = (schema: JsonObject, open: readonly string[]): JsonObject => {
  const isOwn = branchesOf(schema).some(branch => open.includes(toText(memberOf(branch, '$ref'))))
  const { oneOf: _oneOf, anyOf: _anyOf, discriminator: _discriminator, ...rest } = schema
  return isOwn ? rest : schema
}

/** Puts alternatives in place of the members of a type, which each of them has too. */
const withDerived = (flat: FlatSchema, derived: JsonObject | undefined): FlatSchema => {
  if (derived === undefined) return flat
  const { properties, required, additionalProperties: _others, ...rest } = flat.schema
  const own = derived.anyOf === undefined ? { properties: properties ?? {}, required: required ?? [] } : {}
  return { schema: { ...rest, ...own, type: 'object', ...derived }, refs: flat.refs }
}

/**
 * Creates a function that follows the reference of a schema and merges the parts of its `allOf`, and its only
 * alternative besides null. A schema that is a part of itself counts once. Calls `onMissing` with references that lead
 * nowhere. `listTypes` returns the alternatives of a type from which others are derived.
 */
export const createFlatten = (
  description: Description,
  onMissing: (ref: string) => void,
  listTypes: (node: JsonValue | undefined, schema: JsonObject) => JsonObject | undefined,
) => {
  const flatten = (node: JsonValue | undefined, open: readonly string[], room: { parts: number }): FlatSchema => {
    if (!isJsonObject(node) || --room.parts < 0) return { schema: {}, refs: [] }
    const { $ref, ...siblings } = node
    if (typeof $ref !== 'string') return flattenParts(node, open, room)
    if (open.includes($ref)) return { schema: siblings, refs: [$ref] }
    const { value, missing } = description.follow(node)
    if (missing !== undefined) onMissing(missing)
    const target = flatten(value, [...open, $ref], room)
    const isPlain = Object.keys(siblings).length === 0
    const schema = isPlain ? target.schema : mergeSchemas([siblings, target.schema])
    return { schema, refs: [$ref, ...target.refs] }
  }

  const flattenParts = (node: JsonObject, open: readonly string[], room: { parts: number }): FlatSchema => {
    const { allOf, ...own } = node
    const parts = toList(allOf).map(part => flatten(part, open, room))
    const schema =
      parts.length === 0 ? own : mergeSchemas([own, ...parts.map(part => withoutOwnBranches(part.schema, open))])
    const refs = parts.flatMap(part => part.refs)
    const [only, ...others] = branchesOf(schema)
    if (only === undefined || others.length > 0) return { schema, refs }
    const { oneOf: _oneOf, anyOf: _anyOf, ...rest } = schema
    const branch = flatten(only, open, room)
    const merged = mergeSchemas([rest, branch.schema])
    const nullable = hasNullBranch(schema) || isNullable(schema)
    return { schema: nullable ? { ...merged, nullable: true } : merged, refs: [...refs, ...branch.refs] }
  }
  /** The same schema is asked for several times while it is made smaller. */
  const known = new WeakMap<object, FlatSchema>()
  return (node: JsonValue | undefined): FlatSchema => {
    const read = (): FlatSchema => {
      const flat = flatten(node, [], { parts: MAX_PARTS })
      return withDerived(flat, listTypes(node, flat.schema))
    }
    const flat = (isJsonObject(node) ? known.get(node) : undefined) ?? read()
    if (isJsonObject(node)) known.set(node, flat)
    return flat
  }
}
