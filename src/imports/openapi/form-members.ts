import type { JsonObject, JsonValue } from '../../lib/kernel/json.ts'
import { branchesOf } from '../schemas/flatten.ts'
import { typesOf } from '../schemas/keywords.ts'
import type { BodyContext } from './body-context.ts'
import { UnusableOperation } from './imported-operation.ts'
import { isFile } from './media-types.ts'
import { memberOf, objectEntries, toList, toObject, toText } from './nodes.ts'
import { LIST_STYLE } from './open-description.ts'
import { assertParameterCount } from './placeholders.ts'
import { chooseKind, type Kind, type Style, serializationOf } from './styles.ts'

/** A field of a form, with the placeholder of its value. `contentType` is that of its part in a multipart form. */
export type FormMember = { name: string; text: string; kind: Kind; style: Style; contentType: string | undefined }

/** Returns the fields of a form, also those of its alternatives, of which a form cannot say that they exclude each other. */
const listFields = (schema: JsonObject, { reader, note }: BodyContext) => {
  const branches = branchesOf(schema).map(branch => reader.flatten(branch).schema)
  if (branches.some(({ properties }) => properties !== undefined)) {
    note('The body has alternatives: their fields are all optional parameters.')
  }
  const fields = [...branches, schema].flatMap(({ properties }) => objectEntries(properties))
  const additional = schema.additionalProperties
  if (additional !== undefined && additional !== false) note('Other fields that the API accepts cannot be sent.')
  return [...new Map(fields)].filter(([name]) => name !== '__proto__')
}

const FORM: Style = { style: 'form', explode: true }

/** Returns the style of a field (OpenAPI 3.1.1 §4.8.15). Objects without one are JSON. */
const styleOf = (encoding: JsonObject): Style => {
  const style = toText(encoding.style) || 'form'
  return { style, explode: typeof encoding.explode === 'boolean' ? encoding.explode : style === 'form' }
}

/** A field before its schema is read. `isJson`: its value is JSON as a text. */
type Field = {
  name: string
  node: JsonValue
  kind: Kind
  style: Style
  contentType: string | undefined
  isJson: boolean
}

const readField = (name: string, member: JsonValue, encoding: JsonObject, { reader }: BodyContext): Field => {
  const contentType = toText(encoding.contentType) || undefined
  const listStyle = toText(memberOf(member, LIST_STYLE))
  const hasStyle = listStyle !== '' || encoding.style !== undefined || encoding.explode !== undefined
  const own = hasStyle ? styleOf(encoding) : FORM
  const style = listStyle === '' ? own : { style: listStyle, explode: false }
  const { kind, node } = chooseKind(member, style.style, reader)
  const isDeclaredJson = contentType !== undefined && /[/+]json/.test(contentType)
  return {
    name,
    node,
    kind,
    style,
    contentType,
    isJson: kind !== 'scalar' && (isDeclaredJson || (kind === 'object' && !hasStyle)),
  }
}

/** Writes the fields of a form. Leaves out files and what the API sets. Throws if the body has no fields. */
export const writeMembers = (context: BodyContext): readonly FormMember[] => {
  const { media, reader, placeholders, note } = context
  const { schema } = reader.flatten(media.schema)
  const encodings = toObject(media.encoding)
  const required = toList(schema.required)
  const fields = listFields(schema, context).filter(([name, member]) => {
    if (reader.flatten(member).schema.readOnly === true) return false
    if (!isFile(member, reader)) return true
    note(`The file ${name} was left out, because tools cannot send files yet.`)
    return false
  })
  if (fields.length === 0 && objectEntries(schema.properties).length > 0) {
    throw new UnusableOperation('Its body has only files, which tools cannot send yet.')
  }
  if (fields.length === 0 && !typesOf(schema).includes('object')) {
    throw new UnusableOperation('Its body is a form without described fields.')
  }
  assertParameterCount(fields.length)
  const read = fields.map(([name, member]) => readField(name, member, toObject(encodings[name]), context))
  const schemas = reader.readAll(read.map(({ node }) => node))
  return read.map(({ name, node, kind, style, contentType, isJson }, index) => {
    const value = {
      name,
      place: 'body',
      required: required.includes(name),
      schema: schemas[index] ?? {},
      examples: reader.listMemberExamples(media, name, node),
    } as const
    const text = isJson
      ? placeholders.open({ ...value, position: 'json-text' })
      : placeholders.open({ ...value, position: 'text', serialization: serializationOf(style, kind) })
    const partType = contentType ?? (isJson ? 'application/json' : undefined)
    return { name, text, kind: isJson ? 'scalar' : kind, style, contentType: partType }
  })
}
