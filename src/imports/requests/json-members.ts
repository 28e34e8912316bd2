import { type Node, parseTree, stripComments } from 'jsonc-parser'
import { isJsonObject, type JsonObject, type JsonValue, measureJson, parseIfJson } from '../../lib/kernel/json.ts'
import { MAX_JSON_DEPTH } from '../../lib/kernel/limits.ts'
import type { ParameterType } from '../../templates/template.ts'
import type { IsSecret } from '../../tools/import/draft-parameters.ts'
import { fillMarks, hasVariables } from '../../tools/import/variable-marks.ts'
import { isShortExample, type Members } from './members.ts'

/** Objects with more members are one parameter. Models fill in long lists of parameters badly. */
export const MAX_JSON_MEMBERS = 30

/** Replaces variables by digits of the same length, so that offsets in the parsed text are those in the text. */
const withDigits = (text: string): string => fillMarks(text, name => '1'.repeat(name.length + 2))

/** Returns the type of the parameter for a value. */
export const typeOfJson = (value: JsonValue): ParameterType => {
  if (typeof value === 'string') return 'string'
  if (typeof value === 'boolean') return 'boolean'
  if (typeof value !== 'number') return 'json'
  return Number.isSafeInteger(value) ? 'integer' : 'number'
}

/** Returns whether a value, or one inside it, is a secret. `name` is that of the member that has it. */
export const holdsSecret = (value: JsonValue, name: string, isSecret: IsSecret): boolean => {
  if (Array.isArray(value)) return value.some(item => holdsSecret(item, name, isSecret))
  if (isJsonObject(value)) return Object.entries(value).some(([key, member]) => holdsSecret(member, key, isSecret))
  return (typeof value === 'string' || typeof value === 'number') && isSecret('json', name, String(value))
}

/** Maximum number of subschemas in the schema of a long value, so that it stays shorter than the value. */
const MAX_DESCRIBED_VALUES = 60

const kindOfJson = (value: JsonValue): string =>
  value === null ? 'null' : Array.isArray(value) ? 'array' : typeof value

/**
 * Describes the parts of a value by their types, up to a number of them. Nothing is required and null is allowed, because
 * one value does not say what else the API accepts.
 */
const describeValue = (root: JsonValue): JsonObject => {
  let count = 0
  const describe = (value: JsonValue): JsonObject => {
    count++
    if (value === null || count > MAX_DESCRIBED_VALUES) return {}
    if (Array.isArray(value)) {
      const [first] = value
      const isUniform = first !== undefined && value.every(item => kindOfJson(item) === kindOfJson(first))
      return { type: ['array', 'null'], ...(isUniform && { items: describe(first) }) }
    }
    if (!isJsonObject(value)) return { type: [kindOfJson(value), 'null'] }
    const members = Object.entries(value).flatMap(([name, member]): [string, JsonObject][] =>
      count < MAX_DESCRIBED_VALUES ? [[name, describe(member)]] : [],
    )
    return { type: ['object', 'null'], properties: Object.fromEntries(members) }
  }
  return { ...describe(root), type: kindOfJson(root) }
}

/** Returns the schema of a parameter for an array or object: its type and, if the value is not an example, what is in it. */
export const schemaOfJson = (value: JsonValue): { schema?: JsonObject } => {
  if (!Array.isArray(value) && !isJsonObject(value)) return {}
  return { schema: isShortExample(value) ? { type: kindOfJson(value) } : describeValue(value) }
}

type Context = { members: Members; isSecret: IsSecret }

const replaceMembers = (text: string, tree: Node, { members, isSecret }: Context): string => {
  let written = ''
  let from = 0
  for (const property of tree.children ?? []) {
    const [key, node] = property.children ?? []
    if (key === undefined || node === undefined || typeof key.value !== 'string') continue
    const raw = text.slice(node.offset, node.offset + node.length)
    const value = hasVariables(raw) ? undefined : parseIfJson(raw)
    if (value === undefined || holdsSecret(value, key.value, isSecret)) continue
    const example = value === null ? {} : { example: value }
    const mark = members.add({ name: key.value, type: typeOfJson(value), ...example, ...schemaOfJson(value) })
    written += text.slice(from, node.offset) + mark
    from = node.offset + node.length
  }
  return written + text.slice(from)
}

const isFlat = (tree: Node): boolean => {
  const { type, children = [] } = tree
  const keys = new Set(children.map(({ children: [key] = [] }): unknown => key?.value))
  return (
    type === 'object' && children.length > 0 && children.length <= MAX_JSON_MEMBERS && keys.size === children.length
  )
}

/**
 * Replaces the members of a JSON object by parameters, which have the values as examples. Values that contain secrets or
 * variables stay. JSON that is not an object, or has too many members, becomes one parameter unless it has such values.
 * Undefined if the text is not JSON, even without its comments.
 */
export const writeJsonMembers = (source: string, context: Context): string | undefined => {
  const isPlain = parseIfJson(withDigits(source)) !== undefined
  const text = isPlain ? source : stripComments(source)
  const digits = withDigits(text)
  if (measureJson(digits).deepest > MAX_JSON_DEPTH) return undefined
  const value = parseIfJson(digits)
  const tree = value === undefined ? undefined : parseTree(digits)
  if (value === undefined || tree === undefined) return undefined
  if (isFlat(tree)) return replaceMembers(text, tree, context)
  if (hasVariables(text) || holdsSecret(value, '', context.isSecret)) return text
  return context.members.add({ name: 'body', type: typeOfJson(value), example: value, ...schemaOfJson(value) })
}
