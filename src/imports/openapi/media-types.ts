import type { JsonObject, JsonValue } from '../../lib/kernel/json.ts'
import type { SchemaReader } from '../schemas/to-schema.ts'

/** Kinds of bodies, in the order in which they are preferred. */
const KINDS = ['json', 'form', 'multipart', 'text', 'bytes'] as const
export type BodyKind = (typeof KINDS)[number]

type RankedType = { kind: BodyKind; type: string; media: JsonObject }

const TEXT =
  /^text\/|[/+](?:xml|yaml|x-yaml|graphql|sql|javascript|jwt|json-seq|x-ndjson|ndjson|jsonl|x-jsonlines|jose|csv|toml|edn|sparql-query)$/

export const essenceOf = (type: string): string => (type.split(';', 1)[0] ?? '').trim().toLowerCase()

const isBinary = ({ type, format }: JsonObject): boolean => type === 'string' && format === 'binary'

const kindOfType = (type: string, schema: JsonObject): BodyKind => {
  const essence = essenceOf(type)
  if (essence === 'application/x-www-form-urlencoded') return 'form'
  if (essence === 'multipart/form-data') return 'multipart'
  if (/[/+]json$/.test(essence)) return 'json'
  if (TEXT.test(essence)) return 'text'
  const isOpen = essence === '*/*' || essence === 'application/*' || essence === ''
  if (isOpen && !isBinary(schema)) return schema.type === 'string' ? 'text' : 'json'
  // A type that is not known, but whose schema is one of text.
  return schema.type === 'string' &&
    !isBinary(schema) &&
    !/^(?:image|audio|video)\/|octet-stream|\/(?:pdf|zip)$/.test(essence)
    ? 'text'
    : 'bytes'
}

/** Ranks `application/json` before other types of JSON. */
const rankOf = ({ kind, type }: RankedType): number =>
  KINDS.indexOf(kind) * 2 + (kind === 'json' && essenceOf(type) !== 'application/json' ? 1 : 0)

/** Returns the media types of a body, the preferred first. */
export const rankMediaTypes = (
  content: readonly (readonly [type: string, media: JsonObject])[],
  { flatten }: SchemaReader,
): readonly RankedType[] =>
  content
    .map(([type, media]) => ({ kind: kindOfType(type, flatten(media.schema).schema), type, media }))
    .toSorted((one, other) => rankOf(one) - rankOf(other))

/** Returns whether a part of a form is a file, or a list of files (OpenAPI 3.0.3 §4.7.14.2, 3.1.1 §4.8.14.3). */
export const isFile = (node: JsonValue | undefined, { flatten }: SchemaReader): boolean => {
  const { schema } = flatten(node)
  const item = schema.type === 'array' ? flatten(schema.items).schema : schema
  return item.format === 'binary' || (item.contentMediaType !== undefined && item.contentEncoding === undefined)
}
