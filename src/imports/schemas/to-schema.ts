import type { JsonObject, JsonValue } from '../../lib/kernel/json.ts'
import { MAX_PARAMETER_TEXT_CHARS, MAX_SCHEMA_CHARS, MAX_SCHEMA_NODES, MAX_SHORT_TEXT_CHARS } from '../limits.ts'
import { memberOf, sizeOf, toList, toObject, toText } from '../openapi/nodes.ts'
import type { Description } from '../openapi/open-description.ts'
import { createDerivedTypes } from './derived-types.ts'
import { createExamples } from './examples.ts'
import { branchesOf, createFlatten, type FlatSchema, hasNullBranch } from './flatten.ts'
import { isNullable, readKeywords, typesOf } from './keywords.ts'

export type SchemaOptions = {
  description: Description
  /** A request has no readOnly members, and a response no writeOnly ones. */
  direction: 'request' | 'response'
  /** Whether null is a value, as in PATCH, where it clears one. */
  keepsNull: boolean
  /** Takes what was left out, as sentences for the user. */
  note: (text: string) => void
}

/** How often a schema that contains itself is expanded. */
const MAX_EXPANSIONS = 2
/** Nesting to try, until the schema is small enough. Cutting it everywhere keeps what models need most. */
const DEPTHS = [24, 8, 6, 5, 4, 3, 2, 1, 0] as const

/** More members than this have no room, as the shortest one is written as `"a":{},`. */
const MAX_WRITTEN_PARTS = Math.floor(MAX_SCHEMA_CHARS / 7)

const LARGE = 'The schema is large: its inner levels are left out, and any value is accepted there.'

type Walk = { nodes: number; maxDepth: number; maxTextChars: number; isTooLarge: boolean; isCut: boolean }

const nameOf = (ref: string | undefined): string | undefined => ref?.split('/').at(-1)

const countOf = (refs: readonly string[], ref: string): number => refs.filter(other => other === ref).length

/** Adds null to the allowed values. */
const withNull = ({ description, ...schema }: JsonObject): JsonObject => ({
  ...(description !== undefined && { description }),
  anyOf: [...(Object.keys(schema).length === 1 ? toList(schema.anyOf) : [schema]), { type: 'null' }],
})

/** Returns whether so many parts are too many, before each of them is read. They are named if nothing smaller is left. */
const hasNoRoom = (parts: number, state: Walk): boolean => {
  if (parts > MAX_WRITTEN_PARTS) state.isCut = true
  if (parts > state.nodes) state.isTooLarge = true
  return parts > MAX_WRITTEN_PARTS || (state.isTooLarge && state.maxDepth > 0)
}

const mappings = new WeakMap<JsonObject, ReadonlyMap<JsonValue | undefined, [string, JsonValue][]>>()

/** Returns the values of a discriminator by what they select. */
const mappingOf = (discriminator: JsonObject) => {
  const mapping =
    mappings.get(discriminator) ?? Map.groupBy(Object.entries(toObject(discriminator.mapping)), ([, target]) => target)
  mappings.set(discriminator, mapping)
  return mapping
}

/**
 * Returns the values of a discriminator that select a type: those of the mapping, the one that extensions of Azure give
 * the type, or its name.
 */
const valuesOfType = (discriminator: JsonObject, ref: string, type: JsonObject, own: JsonObject) => {
  const mapping = mappingOf(discriminator)
  const mapped = [ref, nameOf(ref)].flatMap(target => mapping.get(target)?.map(([value]) => value) ?? [])
  if (mapped.length > 0) return mapped
  const name = toText(type['x-ms-discriminator-value'] ?? type['x-discriminator-value']) || (nameOf(ref) ?? '')
  const declared = toList(own.enum)
  if (declared.length === 0) return [name]
  // The base type declares the values of all types that are derived from it.
  const named = declared.find(value => toText(value).toLowerCase() === name.toLowerCase())
  return named === undefined ? declared : [named]
}

/** Says in a branch by which value of the discriminator it is chosen. `type` is what the branch refers to. */
const withDiscriminator = (branch: JsonObject, node: JsonValue, type: JsonObject, discriminator: JsonObject) => {
  const name = toText(discriminator.propertyName)
  const ref = toText(memberOf(node, '$ref'))
  if (name === '' || ref === '' || branch.type !== 'object') return branch
  const properties = toObject(branch.properties)
  const own = toObject(memberOf(properties, name))
  const required = [...new Set([...toList(branch.required), name])]
  const choice = { ...own, type: 'string', enum: [...valuesOfType(discriminator, ref, type, own)] }
  return { ...branch, properties: { ...properties, [name]: choice }, required }
}

/**
 * Creates a function that turns schemas of OpenAPI 3.1 into JSON Schema 2020-12 without references, lists of types and
 * combinations other than `anyOf`, with at most `MAX_SCHEMA_NODES` subschemas. A schema that contains itself is expanded
 * twice.
 */
export const createSchemaReader = ({ description, direction, keepsNull, note }: SchemaOptions) => {
  const flatten = createFlatten(
    description,
    ref => note(`A reference leads nowhere, so any value is accepted: ${ref}`),
    // The schema of a response is only a proposal, for which the members of the base type are enough.
    direction === 'request' ? createDerivedTypes(description) : () => undefined,
  )
  const hidden = direction === 'request' ? 'readOnly' : 'writeOnly'

  /** Keywords by the schema and the length of its texts: a schema is read several times while it is made smaller. */
  const known = new Map<number, WeakMap<JsonObject, JsonObject>>()
  const keywordsOf = (schema: JsonObject, type: string | undefined, maxTextChars: number): JsonObject => {
    const ofLength = known.get(maxTextChars) ?? new WeakMap<JsonObject, JsonObject>()
    known.set(maxTextChars, ofLength)
    const keywords = ofLength.get(schema) ?? readKeywords(schema, type, { note, maxTextChars })
    ofLength.set(schema, keywords)
    return keywords
  }

  /** Describes a schema that is not expanded. */
  const stubOf = ({ schema, refs }: FlatSchema, { maxTextChars }: Pick<Walk, 'maxTextChars'>): JsonObject => {
    const types = typesOf(schema)
    const [type] = types.length === 1 ? types : []
    const { description = nameOf(refs[0]) } = keywordsOf(schema, type, maxTextChars)
    return {
      ...(type !== undefined && { type }),
      ...(type === 'array' && { items: {} }),
      ...(description !== undefined && { description }),
    }
  }

  const walk = (node: JsonValue | undefined, refs: readonly string[], depth: number, state: Walk): JsonObject => {
    // What has become too large is not used, unless nothing smaller is left to try.
    if (state.isTooLarge && state.maxDepth > 0) return {}
    const flat = flatten(node)
    const repeated = flat.refs.find(ref => countOf(refs, ref) >= MAX_EXPANSIONS)
    if (repeated !== undefined) {
      note(`${nameOf(repeated)} contains itself and is described ${MAX_EXPANSIONS} levels deep.`)
      return stubOf(flat, state)
    }
    if (--state.nodes < 0) state.isTooLarge = true
    if (depth > state.maxDepth) state.isCut = true
    if (state.isTooLarge || depth > state.maxDepth) return stubOf(flat, state)
    return build(flat.schema, [...refs, ...new Set(flat.refs)], depth, state)
  }

  const membersOf = (schema: JsonObject, refs: readonly string[], depth: number, state: Walk): JsonObject => {
    const all = toObject(schema.properties)
    if (hasNoRoom(sizeOf(all), state)) return {}
    const members = Object.entries(all)
      .filter(([name, member]) => name !== '__proto__' && flatten(member).schema[hidden] !== true)
      .map(([name, member]) => [name, walk(member, refs, depth + 1, state)] as const)
    const properties = Object.fromEntries(members)
    const required = [...new Set(toList(schema.required))].filter(
      name => typeof name === 'string' && Object.hasOwn(properties, name),
    )
    return {
      ...(members.length > 0 && { properties }),
      ...(required.length > 0 && { required }),
    }
  }

  const partsOf = (
    type: string,
    schema: JsonObject,
    refs: readonly string[],
    depth: number,
    state: Walk,
  ): JsonObject => {
    if (type === 'array') return { items: walk(schema.items, refs, depth + 1, state) }
    if (type !== 'object') return {}
    const { additionalProperties: others } = schema
    return {
      ...membersOf(schema, refs, depth, state),
      ...(others !== undefined && others !== false && { additionalProperties: walk(others, refs, depth + 1, state) }),
    }
  }

  const alternativesOf = (schema: JsonObject, refs: readonly string[], depth: number, state: Walk): JsonObject[] => {
    const branches = branchesOf(schema)
    if (hasNoRoom(branches.length, state)) return []
    const choices = branches.map(node =>
      withDiscriminator(
        walk(node, refs, depth + 1, state),
        node,
        description.followObject(node),
        toObject(schema.discriminator),
      ),
    )
    const distinct = [...new Map(choices.map(choice => [JSON.stringify(choice), choice])).values()]
    // An alternative that allows everything, such as one that only says which members are required.
    return distinct.some(one => Object.keys(one).length === 0) ? [] : distinct
  }

  const build = (schema: JsonObject, refs: readonly string[], depth: number, state: Walk): JsonObject => {
    const types = typesOf(schema)
    const [type] = types.length === 1 ? types : []
    const keywords = keywordsOf(schema, type, depth === 0 ? MAX_PARAMETER_TEXT_CHARS : state.maxTextChars)
    const choices = alternativesOf(schema, refs, depth, state)
    const [only] = choices.length === 1 ? choices : []
    const ofTypes = types.length > 1 && choices.length === 0
    const built: JsonObject = {
      ...only,
      ...(type !== undefined && { type, ...partsOf(type, schema, refs, depth, state) }),
      ...keywords,
      ...(choices.length > 1 && { anyOf: choices }),
      ...(ofTypes && { anyOf: types.map(one => ({ type: one, ...partsOf(one, schema, refs, depth, state) })) }),
    }
    return keepsNull && (isNullable(schema) || hasNullBranch(schema)) ? withNull(built) : built
  }

  /** Returns the schemas, and whether they are within the limits. */
  const attempt = (nodes: readonly (JsonValue | undefined)[], maxDepth: number, maxTextChars: number) => {
    const state: Walk = { nodes: MAX_SCHEMA_NODES, maxDepth, maxTextChars, isTooLarge: false, isCut: false }
    const schemas = nodes.map(node => walk(node, [], 0, state))
    // At the outermost level, models need the names of all members.
    const hasRoom = !state.isTooLarge || maxDepth === 0
    const fits = hasRoom && JSON.stringify(schemas).length <= MAX_SCHEMA_CHARS
    return { schemas, fits, isCut: state.isCut || !fits, isTooLarge: state.isTooLarge }
  }

  /**
   * Returns schemas that are within the limits together. If they are larger, shortens their descriptions, and then cuts
   * all of them at the same level, because models need the outer levels of each more than the inner ones of the first.
   */
  const readAll = (nodes: readonly (JsonValue | undefined)[]): readonly JsonObject[] => {
    for (const maxDepth of DEPTHS) {
      for (const maxTextChars of [MAX_PARAMETER_TEXT_CHARS, MAX_SHORT_TEXT_CHARS]) {
        const { schemas, fits, isCut, isTooLarge } = attempt(nodes, maxDepth, maxTextChars)
        if (fits) {
          if (isCut && maxDepth < DEPTHS[0]) note(LARGE)
          return schemas
        }
        if (isTooLarge && maxDepth > 0) break
      }
    }
    note(LARGE)
    return nodes.map(node => stubOf(flatten(node), { maxTextChars: MAX_SHORT_TEXT_CHARS }))
  }

  return {
    flatten,
    readAll,
    read: (node: JsonValue | undefined): JsonObject => readAll([node])[0] ?? {},
    ...createExamples(description, flatten),
  }
}

export type SchemaReader = ReturnType<typeof createSchemaReader>
