import { isJsonObject, type JsonObject, type JsonValue } from '../kernel/index.ts'

export type RequestId = string | number

export type RequestMessage = { kind: 'request'; id: RequestId; method: string; params: JsonObject | undefined }
export type NotificationMessage = { kind: 'notification'; method: string; params: JsonObject | undefined }
/** An answer to a request of ours: a result, or an error. */
export type ResponseMessage = {
  kind: 'response'
  id: RequestId | undefined
  result: JsonObject | undefined
  error: { code: number; message: string } | undefined
}
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

const parseResponse = (value: JsonObject): ResponseMessage | undefined => {
  const { id, result, error } = value
  if (result !== undefined) {
    if (!isJsonObject(result) || !isRequestId(id) || !hasOnly(value, isResultKey)) return undefined
    return { kind: 'response', id, result, error: undefined }
  }
  if (!isJsonObject(error) || !hasOnly(value, isErrorKey)) return undefined
  const { code, message } = error
  if (typeof code !== 'number' || !Number.isInteger(code) || typeof message !== 'string') return undefined
  if (id !== undefined && !isRequestId(id)) return undefined
  return { kind: 'response', id, result: undefined, error: { code, message } }
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
  if (typeof method !== 'string') return parseResponse(value)
  if (!areParams(params) || !hasOnly(value, isCallKey)) return undefined
  if (id === undefined) return { kind: 'notification', method, params }
  return isRequestId(id) ? { kind: 'request', id, method, params } : undefined
}

/** JSON-RPC knows fractions as ids; MCP does not, but its refusal may still carry one. */
const isAnyId = (value: unknown): value is RequestId => typeof value === 'string' || typeof value === 'number'

/** The id that an answer to this value may carry: null where none can be read (JSON-RPC 2.0 §5). */
export const readableId = (value: JsonValue | undefined): RequestId | null =>
  isJsonObject(value) && typeof value.method === 'string' && isAnyId(value.id) ? value.id : null
