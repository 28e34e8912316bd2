import type { JsonObject } from '../../lib/kernel/json.ts'
import { MAX_SCHEMA_NODES } from '../limits.ts'
import { branchesOf } from '../schemas/flatten.ts'
import { typesOf } from '../schemas/keywords.ts'
import type { BodyContext, WrittenBody } from './body-context.ts'
import { essenceOf } from './media-types.ts'
import { objectEntries, sizeOf, toList, toObject } from './nodes.ts'

/** Models fill in single parameters better than one object, but not so many. */
const MAX_FLAT_MEMBERS = 30

/** Returns the members that become parameters of their own, or undefined if the body stays one parameter. */
const flatMembers = (schema: JsonObject, { required, reader }: BodyContext) => {
  const isClosed = schema.additionalProperties === undefined || schema.additionalProperties === false
  const isObject = typesOf(schema).join() === 'object'
  const hasBranches = branchesOf(schema).some(branch => reader.flatten(branch).schema.properties !== undefined)
  if (!isObject || !isClosed || hasBranches) return undefined
  if (!required && toList(schema.required).length > 0) return undefined
  if (sizeOf(toObject(schema.properties)) > MAX_SCHEMA_NODES) return undefined
  const members = objectEntries(schema.properties).filter(
    ([name, member]) => name !== '__proto__' && reader.flatten(member).schema.readOnly !== true,
  )
  return members.length > 0 && members.length <= MAX_FLAT_MEMBERS ? members : undefined
}

/** Braces would start a placeholder. In JSON, a backslash before them is removed. */
const writeKey = (name: string): string => JSON.stringify(name).replaceAll('{{', '\\{{')

const contentTypeOf = (type: string): string | undefined => {
  const essence = essenceOf(type)
  if (essence === 'application/json' || /\*/.test(essence) || essence === '') return undefined
  return type
}

/**
 * Writes a JSON body: a parameter for each member if it is an object with few of them, and otherwise one parameter. Only
 * the first level is taken apart.
 */
export const writeJson = (context: BodyContext): WrittenBody => {
  const { type, media, required, description, reader, placeholders } = context
  const contentType = contentTypeOf(type)
  const { schema } = reader.flatten(media.schema)
  const members = flatMembers(schema, context)
  if (members === undefined) {
    const whole = { name: 'body', place: 'body', schema: reader.read(media.schema), required, description } as const
    const examples = reader.listExamples(media, media.schema)
    return { body: placeholders.open({ ...whole, position: 'json-text', examples }), contentType }
  }
  const needed = toList(schema.required)
  const schemas = reader.readAll(members.map(([, member]) => member))
  const written = members.map(([name, node], index) => {
    const member = { name, place: 'body', schema: schemas[index] ?? {}, required: needed.includes(name) } as const
    const examples = reader.listMemberExamples(media, name, node)
    return `${writeKey(name)}: ${placeholders.open({ ...member, position: 'json', examples })}`
  })
  return { body: `{${written.join(', ')}}`, contentType }
}
