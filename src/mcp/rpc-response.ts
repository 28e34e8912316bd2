import type { JsonObject } from '../lib/kernel/json.ts'
import type { RequestId } from './message.ts'
import { ERROR } from './protocol.ts'

/** A JSON text ready to be written: its start, then parts that were rendered earlier. */
export type Json = { head: string; rest: readonly Buffer[] }

/** A JSON-RPC response before it is written. `headers` is a flat list of names and values. */
export type RpcResponse = Json & { status: number; headers: readonly string[] | undefined }

const NOTHING: readonly Buffer[] = []

/** An error instead of a result. `status` and `headers` apply if the response has not started yet. */
export type Refusal = {
  status: number
  code: number
  message: string
  data?: JsonObject | undefined
  headers?: readonly string[]
}

export const refusal = (status: number, code: number, message: string, data?: JsonObject): Refusal => ({
  status,
  code,
  message,
  data,
})

export const isRefusal = (value: object): value is Refusal => 'code' in value

/** Sent for calls that are still running when the time for a shutdown has expired. */
export const CUT_BY_SHUTDOWN = refusal(
  503,
  ERROR.transport,
  'Patchbay is shutting down and has ended this call. It may have taken effect',
)

/** Invalid parameters. Sent with HTTP status 200, as the SDK does. */
export const invalidParams = (message: string, data?: JsonObject): Refusal =>
  refusal(200, ERROR.invalidParams, message, data)

/** Renders an id as JSON. */
export const idText = (id: RequestId): string => (typeof id === 'number' ? String(id) : JSON.stringify(id))

export const resultResponse = (id: RequestId, result: string, headers?: readonly string[]): RpcResponse => ({
  status: 200,
  head: `{"jsonrpc":"2.0","id":${idText(id)},"result":${result}}`,
  rest: NOTHING,
  headers,
})

/**
 * Wraps a result that is rendered as bytes, such as a page of a list. The bytes include the closing brace of the
 * envelope, `{"jsonrpc":…,"result":{"tools":[…]}}`, so that nothing has to be appended to them.
 */
export const bytesResponse = (id: RequestId, { head, rest }: Json): RpcResponse => ({
  status: 200,
  head: `{"jsonrpc":"2.0","id":${idText(id)},"result":${head}`,
  rest,
  headers: undefined,
})

export const errorResponse = (
  id: RequestId | null,
  { status, code, message, data, headers }: Refusal,
): RpcResponse => ({
  status,
  head: JSON.stringify({ jsonrpc: '2.0', id, error: { code, message, data } }),
  rest: NOTHING,
  headers,
})

/** Returns the size in bytes. */
export const sizeOf = ({ head, rest }: Json): number =>
  rest.reduce((bytes, { length }) => bytes + length, Buffer.byteLength(head))

export const responseText = ({ head, rest }: RpcResponse): string =>
  rest.length === 0 ? head : head + Buffer.concat(rest).toString()
