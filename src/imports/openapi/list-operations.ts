import { formatNumber, shorten } from '../../lib/kernel/format.ts'
import { isJsonObject, type JsonObject, type JsonValue } from '../../lib/kernel/json.ts'
import type { OperationSource } from './imported-operation.ts'
import { toList, toObject, toText } from './nodes.ts'
import type { Description } from './open-description.ts'
import { plainText, withoutSecrets } from './texts.ts'

const MAX_SUMMARY_CHARS = 200
const MAX_METHOD_CHARS = 40
/** No real path is nearly as long, and each operation of a path repeats it. */
const MAX_PATH_CHARS = 2_000
const MAX_NAME_CHARS = 200
const MAX_TAGS = 20
/** The fields of a path item that are operations (OpenAPI 3.2.0 §4.9). */
const METHODS = ['get', 'put', 'post', 'delete', 'options', 'head', 'patch', 'trace', 'query'] as const

/** An operation and where it is. */
export type OperationNode = { source: OperationSource; item: JsonObject; operation: JsonObject }

/** An operation, or what cannot be one. `reason` is a sentence for the user. */
export type FoundOperation = OperationNode | { source: OperationSource; reason: string }

/** All of it has a limit, because a description can have one long text in many operations. */
const sourceOf = (method: string, path: string, operation: JsonObject): OperationSource => ({
  key: `${method} ${path}`,
  method,
  path,
  operationId: shorten(toText(operation.operationId), MAX_NAME_CHARS) || undefined,
  summary: plainText(toText(operation.summary), MAX_SUMMARY_CHARS) || undefined,
  tags: toList(operation.tags)
    .slice(0, MAX_TAGS)
    .flatMap(tag => (typeof tag === 'string' ? [withoutSecrets(shorten(tag, MAX_NAME_CHARS))] : [])),
  deprecated: operation.deprecated === true,
})

/** Returns the operations of a path item. Methods that are not listed in OpenAPI keep their case. */
const operationsOf = (item: JsonObject): readonly (readonly [method: string, operation: JsonValue])[] => [
  ...METHODS.flatMap(method => (item[method] === undefined ? [] : [[method.toUpperCase(), item[method]] as const])),
  ...Object.entries(toObject(item.additionalOperations)).map(
    ([method, operation]) => [shorten(method, MAX_METHOD_CHARS), operation] as const,
  ),
]

const refuseMethod = (method: string): string | undefined =>
  /^(?:CONNECT|TRACE|TRACK)$/i.test(method) ? `Tools cannot send ${method} requests.` : undefined

/** Lists the operations of a description, with those that cannot be imported. */
export function* listOperations(description: Description): Generator<FoundOperation> {
  for (const [path, given] of description.pathItems()) {
    if (path.length > MAX_PATH_CHARS) {
      const reason = `Its path is longer than ${formatNumber(MAX_PATH_CHARS)} characters.`
      yield { source: sourceOf('*', shorten(path, MAX_NAME_CHARS), {}), reason }
      continue
    }
    const { value, missing } = description.follow(given)
    // Other members of a path item with a reference add to it.
    const item = isJsonObject(value) ? { ...value, ...withoutRef(given) } : {}
    const operations = operationsOf(item)
    if (operations.length === 0 && (missing !== undefined || !isJsonObject(value))) {
      const reason = missing === undefined ? 'It has no operations.' : `Its reference leads nowhere: ${missing}`
      yield { source: sourceOf('*', path, {}), reason }
    }
    for (const [method, operation] of operations) {
      const source = sourceOf(method, path, toObject(operation))
      const reason = isJsonObject(operation) ? refuseMethod(method) : 'It is not described.'
      if (reason === undefined) yield { source, item, operation: toObject(operation) }
      else yield { source, reason }
    }
  }
}

const withoutRef = (given: JsonValue): JsonObject => {
  const { $ref: _ref, ...rest } = toObject(given)
  return rest
}
