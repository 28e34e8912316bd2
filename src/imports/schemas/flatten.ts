import { isDeepStrictEqual } from 'node:util'
import { isJsonObject, type JsonObject, type JsonValue } from '../../lib/kernel/json.ts'
import { toList, toObject } from '../openapi/nodes.ts'
import type { Description } from '../openapi/open-description.ts'
import { isNullable } from './keywords.ts'

/** Parts of one schema that are combined. Schemas that refer to each other in `allOf` could have any number of them. */
const MAX_PARTS = 500

/** A schema without `$ref` and `allOf` at its top, and the references that led to it. */
export type FlatSchema = { schema: JsonObject; refs: readonly string[] }

const COMBINED: ReadonlySet<string> = new Set(['properties', 'required', 'enum', '$ref', 'allOf'])

const mergeProperties = (first: JsonObject, second: JsonObject): JsonObject => {
  const both = Object.entries(second).map(([name, schema]): [string, JsonValue] => {
    const own = Object.hasOwn(first, name) ? first[name] : undefined
    return [name, own === undefined || isDeepStrictEqual(own, schema) ? schema : { allOf: [own, schema] }]
  })
  const names = new Set(both.map(([name]) => name))
  return Object.fromEntries([...Object.entries(first).filter(([name]) => !names.has(name)), ...both])
}

const mergeEnums = (first: JsonValue | undefined, second: JsonValue | undefined): JsonValue | undefined => {
  if (!Array.isArray(first) || !Array.isArray(second)) return first ?? second
  return first.filter(value => second.some(other => isDeepStrictEqual(other, value)))
}

/** Combines two schemas that both apply. The first one's texts and limits win. */
const mergeSchemas = (first: JsonObject, second: JsonObject): JsonObject => {
  const others = (schema: JsonObject) => Object.entries(schema).filter(([key]) => !COMBINED.has(key))
  const allowed = mergeEnums(first.enum, second.enum)
  const required = [...new Set([...toList(first.required), ...toList(second.required)])]
  const hasProperties = first.properties !== undefined || second.properties !== undefined
  return {
    ...Object.fromEntries([...others(second), ...others(first)]),
    ...(hasProperties && { properties: mergeProperties(toObject(first.properties), toObject(second.properties)) }),
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
 * Creates a function that follows the reference of a schema and merges the parts of its `allOf`, and its only
 * alternative besides null. A schema that is a part of itself counts once. Calls `onMissing` with references that lead
 * nowhere.
 */
export const createFlatten = (description: Description, onMissing: (ref: string) => void) => {
  const flatten = (node: JsonValue | undefined, open: readonly string[], room: { parts: number }): FlatSchema => {
    if (!isJsonObject(node) || --room.parts < 0) return { schema: {}, refs: [] }
    const { $ref, ...siblings } = node
    if (typeof $ref !== 'string') return flattenParts(node, open, room)
    if (open.includes($ref)) return { schema: siblings, refs: [$ref] }
    const { value, missing } = description.follow(node)
    if (missing !== undefined) onMissing(missing)
    const target = flatten(value, [...open, $ref], room)
    return { schema: mergeSchemas(siblings, target.schema), refs: [$ref, ...target.refs] }
  }

  const flattenParts = (node: JsonObject, open: readonly string[], room: { parts: number }): FlatSchema => {
    const { allOf, ...own } = node
    const flat = toList(allOf)
      .map(part => flatten(part, open, room))
      .reduce<FlatSchema>(
        (all, { schema, refs }) => ({ schema: mergeSchemas(all.schema, schema), refs: [...all.refs, ...refs] }),
        { schema: own, refs: [] },
      )
    const { schema, refs } = flat
    const [only, ...others] = branchesOf(schema)
    if (only === undefined || others.length > 0) return flat
    const { oneOf: _oneOf, anyOf: _anyOf, ...rest } = schema
    const branch = flatten(only, open, room)
    const merged = mergeSchemas(rest, branch.schema)
    const nullable = hasNullBranch(schema) || isNullable(schema)
    return { schema: nullable ? { ...merged, nullable: true } : merged, refs: [...refs, ...branch.refs] }
  }
  /** The same schema is asked for several times while it is made smaller. */
  const known = new WeakMap<object, FlatSchema>()
  return (node: JsonValue | undefined): FlatSchema => {
    const flat = (isJsonObject(node) ? known.get(node) : undefined) ?? flatten(node, [], { parts: MAX_PARTS })
    if (isJsonObject(node)) known.set(node, flat)
    return flat
  }
}
