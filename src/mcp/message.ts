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

/** JSON-RPC allows fractional ids, but MCP does not. An error response may still repeat a fractional id. */
const isAnyId = (value: unknown): value is RequestId => typeof value === 'string' || typeof value === 'number'

/** Returns the id to use in the response to this value, or null if the value has no readable id (JSON-RPC 2.0 §5). */
export const readableId = (value: JsonValue | undefined): RequestId | null =>
  isJsonObject(value) && typeof value.method === 'string' && isAnyId(value.id) ? value.id : null
