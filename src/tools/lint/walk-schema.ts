import { isJsonObject, type JsonObject, type JsonValue } from '../../lib/kernel/json.ts'
import { NAMED_SCHEMAS, SUBSCHEMAS } from '../../lib/kernel/json-schema.ts'
import { MAX_JSON_DEPTH } from '../../lib/kernel/limits.ts'

export type SchemaNode = {
  schema: JsonObject
  /** JSON Pointer to the subschema. */
  at: string
  /** The parameter (a property of the root) that contains the subschema. */
  parameter: string | undefined
  /** Whether the subschema describes a property, at any depth. */
  isProperty: boolean
}

const escapeName = (name: string): string => name.replaceAll('~', '~0').replaceAll('/', '~1')

const namedChildren = ({ at, parameter }: SchemaNode, keyword: string, map: JsonObject): SchemaNode[] =>
  Object.entries(map).flatMap(([name, schema]) =>
    isJsonObject(schema)
      ? [
          {
            schema,
            at: `${at}/${keyword}/${escapeName(name)}`,
            parameter: at === '' && keyword === 'properties' ? name : parameter,
            isProperty: keyword === 'properties',
          },
        ]
      : [],
  )

const plainChildren = ({ at, parameter }: SchemaNode, keyword: string, value: JsonValue): SchemaNode[] => {
  const place = `${at}/${keyword}`
  if (isJsonObject(value)) return [{ schema: value, at: place, parameter, isProperty: false }]
  if (!Array.isArray(value)) return []
  return value.flatMap((schema, index) =>
    isJsonObject(schema) ? [{ schema, at: `${place}/${index}`, parameter, isProperty: false }] : [],
  )
}

const childrenOf = (node: SchemaNode): SchemaNode[] =>
  Object.entries(node.schema).flatMap(([keyword, value]) => {
    if (NAMED_SCHEMAS.has(keyword) && isJsonObject(value)) return namedChildren(node, keyword, value)
    return SUBSCHEMAS.has(keyword) ? plainChildren(node, keyword, value) : []
  })

/** Maximum number of subschemas to list. Real tools have less than a hundredth of that number. */
const MAX_NODES = 20_000

/**
 * Lists every subschema, starting with the root. Skips values that only look like schemas, such as those in `enum` or
 * `default`. `isWhole` is false if the schema is too deep or too large to list completely.
 */
export const listSubschemas = (root: JsonObject): { nodes: SchemaNode[]; isWhole: boolean } => {
  const nodes: SchemaNode[] = []
  let level: SchemaNode[] = [{ schema: root, at: '', parameter: undefined, isProperty: false }]
  for (let depth = 0; level.length > 0; depth++) {
    if (depth === MAX_JSON_DEPTH || nodes.length + level.length > MAX_NODES) return { nodes, isWhole: false }
    nodes.push(...level)
    level = level.flatMap(childrenOf)
  }
  return { nodes, isWhole: true }
}
