import type { JsonObject } from '../../lib/kernel/json.ts'
import type { SchemaReader } from '../schemas/to-schema.ts'
import type { BodyContext, WrittenBody } from './body-context.ts'
import { writeForm } from './form-body.ts'
import { UnusableOperation } from './imported-operation.ts'
import { writeJson } from './json-body.ts'
import { type BodyKind, isFile, rankMediaTypes } from './media-types.ts'
import { writeMultipart } from './multipart-body.ts'
import { objectEntries, toList } from './nodes.ts'

const writeText = ({ type, media, required, description, reader, placeholders, note }: BodyContext): WrittenBody => {
  const isXml = /xml/.test(type)
  if (isXml) note('The body is XML: the model writes it as one text.')
  if (media.itemSchema !== undefined) note(`The body is ${type}: the model writes all items as one text.`)
  const schema = { type: 'string', description: isXml ? 'An XML document' : `The body, as ${type}` }
  const examples = [...reader.listExamples(media, media.schema)].filter(value => typeof value === 'string')
  const value = { name: 'body', place: 'body', schema, required, description, examples } as const
  const body = placeholders.open({ ...value, position: 'text' })
  return { body, contentType: type }
}

const WRITERS: Readonly<Record<Exclude<BodyKind, 'bytes'>, (context: BodyContext) => WrittenBody>> = {
  json: writeJson,
  form: writeForm,
  multipart: writeMultipart,
  text: writeText,
}

/** Returns why a body of this type cannot be sent, or undefined if it can. */
const refuseType = (kind: BodyKind, type: string, media: JsonObject, reader: SchemaReader): string | undefined => {
  if (kind === 'bytes') return `It sends a file (${type}), which tools cannot do yet.`
  if (kind !== 'multipart') return undefined
  const { schema } = reader.flatten(media.schema)
  const required = toList(schema.required)
  const file = objectEntries(schema.properties).find(
    ([name, member]) => required.includes(name) && isFile(member, reader),
  )
  return file === undefined ? undefined : `It sends a file (${file[0]}), which tools cannot do yet.`
}

/** Writes the body of an operation in the first of its media types that tools can send. */
export const writeBody = (
  { content, required }: JsonObject,
  context: Omit<BodyContext, 'type' | 'media' | 'required'>,
): WrittenBody | undefined => {
  const ranked = rankMediaTypes(objectEntries(content), context.reader)
  const refusals = ranked.map(({ kind, type, media }) => refuseType(kind, type, media, context.reader))
  const chosen = ranked[refusals.indexOf(undefined)]
  if (chosen === undefined) {
    if (refusals[0] === undefined) return undefined
    throw new UnusableOperation(refusals[0])
  }
  const { kind, type, media } = chosen
  if (kind === 'bytes') return undefined
  return WRITERS[kind]({ ...context, type, media, required: required === true })
}
