import { isJsonObject, type JsonObject, type JsonValue } from '../../lib/kernel/json.ts'
import { jsonLengthOf, memberOf, objectEntries, sizeOf, toList, toObject } from '../openapi/nodes.ts'
import type { Description } from '../openapi/open-description.ts'
import { readJsonText } from '../openapi/secret-examples.ts'
import { branchesOf, type FlatSchema } from './flatten.ts'

/** Schemas that an example is put together from, for one parameter. */
const MAX_PARTS = 40
/** Objects with more members have no example put together. */
const MAX_MEMBERS = 1_000
const MAX_DEPTH = 4

/** Examples that are read for one value, and the maximum length of each as JSON, with its read-only members. */
const MAX_DECLARED = 10
const MAX_READ_CHARS = 8_000

/** How much more an example may be put together from. With optional members it may get too long. */
type Room = { parts: number; readonly onlyRequired: boolean }

type Flatten = (node: JsonValue | undefined) => FlatSchema

/** Returns whether a value has something where its schema says that it is a password. */
const holdsPassword = (given: JsonValue, node: JsonValue | undefined, flatten: Flatten, depth = 0): boolean => {
  const { schema } = flatten(node)
  if (schema.format === 'password') return true
  const value = readJsonText(given)
  // Whether there is one further down is not looked for.
  if (depth > MAX_DEPTH) return typeof value === 'object'
  if (Array.isArray(value)) return value.some(item => holdsPassword(item, schema.items, flatten, depth + 1))
  if (!isJsonObject(value)) return schema.items !== undefined && holdsPassword(value, schema.items, flatten, depth + 1)
  const schemas = [schema, ...branchesOf(schema).map(branch => flatten(branch).schema)]
  return Object.entries(value).some(([name, member]) =>
    schemas.some(({ properties, additionalProperties }) =>
      holdsPassword(member, memberOf(properties, name) ?? additionalProperties, flatten, depth + 1),
    ),
  )
}

/**
 * Creates functions that find the examples of values. None is an example of a password; whether one fits its parameter
 * is not checked.
 */
export const createExamples = ({ followObject }: Description, flatten: Flatten) => {
  /** Returns the examples that a parameter, media type or schema declares, as OpenAPI 3.0 to 3.2 write them. */
  const declaredBy = ({ examples, 'x-example': extension, example = extension }: JsonObject): readonly JsonValue[] => {
    const named = objectEntries(examples).map(([, one]) => {
      const { value, dataValue = value } = followObject(one)
      return dataValue
    })
    return [example, ...(Array.isArray(examples) ? examples : named)].filter(one => one !== undefined && one !== null)
  }

  const isReadOnly = (node: JsonValue | undefined): boolean => flatten(node).schema.readOnly === true

  /** Leaves out the members that only responses have, which an example of a whole object shows too. */
  const withoutReadOnly = (value: JsonValue, { properties }: JsonObject): JsonValue => {
    if (!isJsonObject(value)) return value
    return Object.fromEntries(Object.entries(value).filter(([name]) => !isReadOnly(memberOf(properties, name))))
  }

  /** Puts an example together from those of the items or members. Undefined if a required member has none. */
  const compose = (schema: JsonObject, room: Room, depth: number): JsonValue | undefined => {
    if (schema.items !== undefined) {
      const item = exampleOf(schema.items, room, depth)
      return item === undefined ? undefined : [item]
    }
    if (sizeOf(toObject(schema.properties)) > MAX_MEMBERS) return undefined
    const found: JsonObject = {}
    for (const [name, member] of objectEntries(schema.properties)) {
      const isRequired = toList(schema.required).includes(name)
      if (name === '__proto__' || (!isRequired && room.onlyRequired) || isReadOnly(member)) continue
      const value = exampleOf(member, room, depth)
      if (value !== undefined) found[name] = value
      else if (isRequired) return undefined
    }
    return Object.keys(found).length > 0 ? found : undefined
  }

  const exampleOf = (node: JsonValue, room: Room, depth: number): JsonValue | undefined => {
    if (--room.parts < 0 || depth > MAX_DEPTH) return undefined
    const { schema } = flatten(node)
    if (schema.format === 'password') return undefined
    const [declared] = declaredBy(schema)
    return declared ?? compose(schema, room, depth + 1) ?? schema.default
  }

  /** Yields the examples of a value that `holder`, such as a parameter, or its schema declares, the best first. */
  function* listExamples(holder: JsonObject, node: JsonValue | undefined): Generator<JsonValue> {
    const { schema } = flatten(node)
    const isUsable = (value: JsonValue): boolean =>
      jsonLengthOf(value) <= MAX_READ_CHARS && !holdsPassword(value, node, flatten)
    for (const value of [...declaredBy(holder), ...declaredBy(schema)].slice(0, MAX_DECLARED)) {
      if (isUsable(value)) yield withoutReadOnly(value, schema)
    }
    for (const onlyRequired of [false, true]) {
      const composed = compose(schema, { parts: MAX_PARTS, onlyRequired }, 0)
      if (composed !== undefined && isUsable(composed)) yield composed
    }
  }

  return {
    listExamples,
    /** Yields the examples of a member of a body: those of the whole body, and then its own. */
    listMemberExamples: (media: JsonObject, name: string, node: JsonValue): Generator<JsonValue> => {
      const ofWhole = [...declaredBy(media), ...declaredBy(flatten(media.schema).schema)]
      const inWhole = ofWhole.map(whole => memberOf(toObject(whole), name)).filter(value => value !== undefined)
      return listExamples({ examples: inWhole }, node)
    },
  }
}
