import type { JsonObject, JsonValue } from '../../lib/kernel/json.ts'
import type { SchemaReader } from '../schemas/to-schema.ts'
import type { Placeholders } from './placeholders.ts'

/** A body as the template has it. `contentType` is undefined for `application/json`, which is sent anyway. */
export type WrittenBody = { body: string; contentType: string | undefined }

/** A media type of a request, with what writes it. */
export type BodyContext = {
  type: string
  media: JsonObject
  /** The key of the operation, from which the boundary of a multipart body is made. */
  key: string
  required: boolean
  description: JsonValue | undefined
  reader: SchemaReader
  placeholders: Placeholders
  note: (text: string) => void
}
