import type { BodyContext, WrittenBody } from './body-context.ts'
import { writeMembers } from './form-members.ts'
import { writePair } from './styles.ts'

const FORM_TYPE = 'application/x-www-form-urlencoded'

/** Writes a form. One without described fields takes any. */
export const writeForm = (context: BodyContext): WrittenBody => {
  const { media, required, description, reader, placeholders } = context
  const members = writeMembers(context)
  if (members.length > 0) {
    const pairs = members.map(({ name, text, style, kind }) => writePair(name, text, style, kind))
    return { body: pairs.join('&'), contentType: FORM_TYPE }
  }
  const value = { name: 'body', place: 'body', schema: reader.read(media.schema), required, description } as const
  const examples = reader.listExamples(media, media.schema)
  const body = placeholders.open({ ...value, position: 'text', serialization: 'spread', examples })
  return { body, contentType: FORM_TYPE }
}
