import type { JsonObject, JsonValue } from '../../lib/kernel/json.ts'
import type { Serialization } from '../../templates/template.ts'
import { branchesOf } from '../schemas/flatten.ts'
import { typesOf } from '../schemas/keywords.ts'
import type { SchemaReader } from '../schemas/to-schema.ts'

/** What the styles of OpenAPI distinguish. */
export type Kind = 'scalar' | 'array' | 'object'

/** A style of OpenAPI 3.2, or `tabDelimited` for `tsv` of Swagger 2.0. */
export type Style = { style: string; explode: boolean }

const kindOf = (schema: JsonObject): Kind => {
  const types = typesOf(schema)
  if (types.includes('array')) return 'array'
  return types.includes('object') ? 'object' : 'scalar'
}

/**
 * Returns the schema that a style can serialize. Of alternatives, it is the object for `deepObject`, and else an array
 * if there is one: a single value is the same as an array of one.
 */
export const chooseKind = (
  node: JsonValue,
  style: string,
  { flatten }: SchemaReader,
): { kind: Kind; node: JsonValue } => {
  const { schema } = flatten(node)
  const kind = kindOf(schema)
  if (kind !== 'scalar') return { kind, node }
  const branches = branchesOf(schema).map(branch => ({ kind: kindOf(flatten(branch).schema), node: branch }))
  const wanted: readonly Kind[] = style === 'deepObject' ? ['object', 'array'] : ['array']
  const chosen = wanted.flatMap(one => branches.find(branch => branch.kind === one) ?? [])[0]
  const onlyObjects = branches.length > 0 && branches.every(branch => branch.kind === 'object')
  return chosen ?? (onlyObjects ? { kind: 'object', node } : { kind, node })
}

/** Returns how the template serializes a value of this kind. Undefined for a scalar, which is sent as it is. */
export const serializationOf = ({ style, explode }: Style, kind: Kind): Serialization | undefined => {
  if (kind === 'scalar') return undefined
  if (style === 'deepObject') return kind === 'object' ? 'brackets' : 'repeat'
  if (style === 'tabDelimited') return 'tab'
  const isDelimited = style === 'spaceDelimited' || style === 'pipeDelimited'
  if (isDelimited && !explode) return style === 'spaceDelimited' ? 'space' : 'pipe'
  if (!explode) return 'comma'
  if (kind === 'object') return 'spread'
  if (style === 'simple') return 'comma'
  return style === 'label' ? 'dot' : 'repeat'
}

/** Encodes a name in a query or form. Brackets stay readable: servers accept them both ways. */
export const encodeName = (name: string): string =>
  encodeURIComponent(name.toWellFormed()).replaceAll('%5B', '[').replaceAll('%5D', ']')

/** Returns a pair of a query or form. `deepObject` arrays are sent as `name[]=a&name[]=b`, as servers read them. */
export const writePair = (name: string, placeholder: string, style: Style, kind: Kind): string => {
  const serialization = serializationOf(style, kind)
  if (serialization === 'spread') return placeholder
  if (serialization === 'brackets') return encodeName(name) + placeholder
  const isList = style.style === 'deepObject' && kind === 'array' && !name.endsWith('[]')
  return `${encodeName(name)}${isList ? '[]' : ''}=${placeholder}`
}
