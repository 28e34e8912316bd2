import { isJsonObject, type JsonObject, type JsonValue } from '../kernel/index.ts'

export type RequestId = string | number

export type RequestMessage = { kind: 'request'; id: RequestId; method: string; params: JsonObject | undefined }
export type NotificationMessage = { kind: 'notification'; method: string; params: JsonObject | undefined }
/** An answer to a request of ours. We send none yet, so nobody waits for it. */
export type ResponseMessage = { kind: 'response' }
export type Message = RequestMessage | NotificationMessage | ResponseMessage

export const isRequestId = (value: unknown): value is RequestId =>
  typeof value === 'string' || (typeof value === 'number' && Number.isSafeInteger(value))

export const metaOf = (params: JsonObject | undefined): JsonObject | undefined => {
  const meta = params?._meta
  return isJsonObject(meta) ? meta : undefined
}

/** `params` is an object, its `_meta` one too, and a progress token something that can be sent back. */
const areParams = (params: JsonValue | undefined): params is JsonObject | undefined => {
  if (params === undefined) return true
  if (!isJsonObject(params)) return false
  const meta = params._meta
  if (meta === undefined) return true
  return isJsonObject(meta) && (meta.progressToken === undefined || isRequestId(meta.progressToken))
}

const hasOnly = (value: JsonObject, known: (key: string) => boolean): boolean => {
  for (const key in value) {
    if (!known(key)) return false
  }
  return true
}
const isCallKey = (key: string): boolean => key === 'jsonrpc' || key === 'id' || key === 'method' || key === 'params'
const isResultKey = (key: string): boolean => key === 'jsonrpc' || key === 'id' || key === 'result'
const isErrorKey = (key: string): boolean => key === 'jsonrpc' || key === 'id' || key === 'error'

const isResponse = (value: JsonObject): boolean => {
  if (value.result !== undefined) {
    return isJsonObject(value.result) && isRequestId(value.id) && hasOnly(value, isResultKey)
  }
  if (!isJsonObject(value.error) || !hasOnly(value, isErrorKey)) return false
  const { code, message } = value.error
  return Number.isInteger(code) && typeof message === 'string' && (value.id === undefined || isRequestId(value.id))
}

/**
 * One JSON-RPC message of MCP, or undefined when the value is none.
 *
 * Stricter than JSON-RPC 2.0 in what MCP is stricter in: ids are strings or whole numbers, params are objects,
 * and there are no members besides those of the envelope (basic, "Messages").
 */
export const parseMessage = (value: JsonValue): Message | undefined => {
  if (!isJsonObject(value) || value.jsonrpc !== '2.0') return undefined
  const { id, method, params } = value
  if (typeof method !== 'string') return isResponse(value) ? { kind: 'response' } : undefined
  if (!areParams(params) || !hasOnly(value, isCallKey)) return undefined
  if (id === undefined) return { kind: 'notification', method, params }
  return isRequestId(id) ? { kind: 'request', id, method, params } : undefined
}

/** JSON-RPC knows fractions as ids; MCP does not, but its refusal may still carry one. */
const isAnyId = (value: unknown): value is RequestId => typeof value === 'string' || typeof value === 'number'

/** The id that an answer to this value may carry: null where none can be read (JSON-RPC 2.0 §5). */
export const readableId = (value: JsonValue | undefined): RequestId | null =>
  isJsonObject(value) && typeof value.method === 'string' && isAnyId(value.id) ? value.id : null
