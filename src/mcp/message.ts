import { isJsonObject, type JsonObject, type JsonValue } from '../lib/kernel/json.ts'

export type RequestId = string | number

export type RequestMessage = { kind: 'request'; id: RequestId; method: string; params: JsonObject | undefined }
export type NotificationMessage = { kind: 'notification'; method: string; params: JsonObject | undefined }
/** A response to a request that we sent. */
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

/** Whether `params` and `_meta` are objects and the progress token, if any, is valid. */
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
 * Parses one MCP message in JSON-RPC format. Returns undefined if the value is not a valid message.
 *
 * Stricter than JSON-RPC 2.0, as MCP requires: ids are strings or integers, params are objects, and the envelope has no
 * other members (basic, "Messages").
 */
export const parseMessage = (value: JsonValue): Message | undefined => {
  if (!isJsonObject(value) || value.jsonrpc !== '2.0') return undefined
  const { id, method, params } = value
  if (typeof method !== 'string') return parseResponse(value)
  if (!areParams(params) || !hasOnly(value, isCallKey)) return undefined
  if (id === undefined) return { kind: 'notification', method, params }
  return isRequestId(id) ? { kind: 'request', id, method, params } : undefined
}

/** JSON-RPC allows fractional ids, but MCP does not. An error response may still repeat a fractional id. */
const isAnyId = (value: unknown): value is RequestId => typeof value === 'string' || typeof value === 'number'

/** Returns the id to use in the response to this value, or null if the value has no readable id (JSON-RPC 2.0 §5). */
export const readableId = (value: JsonValue | undefined): RequestId | null =>
  isJsonObject(value) && typeof value.method === 'string' && isAnyId(value.id) ? value.id : null
