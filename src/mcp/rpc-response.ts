import type { JsonObject } from '../lib/kernel/json.ts'
import type { RequestId } from './message.ts'
import { ERROR } from './protocol.ts'
import type { Era } from './registry/listing.ts'

/** JSON that is ready to be written: the start as a string, followed by parts that were rendered earlier. */
export type Json = { head: string; rest: readonly Buffer[] }

/** A JSON-RPC response before it is written. `headers` is a flat list of names and values. */
export type RpcResponse = Json & { status: number; headers: readonly string[] | undefined }

const NOTHING: readonly Buffer[] = []

/** An error to send instead of a result. `status` and `headers` apply only if the response has not started yet. */
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

/** Sent for calls that are still running when the shutdown timeout expires. */
export const CUT_BY_SHUTDOWN = refusal(
  503,
  ERROR.transport,
  'Patchbay is shutting down and has ended this call. It may have taken effect',
)

/** Returns an invalid params error. It is sent with HTTP status 200, as in the SDK. */
export const invalidParams = (message: string, data?: JsonObject): Refusal =>
  refusal(200, ERROR.invalidParams, message, data)

/** Returns the code for an unknown resource. */
export const resourceNotFoundCode = (era: Era): number =>
  era === 'session' ? ERROR.resourceNotFound : ERROR.invalidParams

/**
 * Returns the refusal for an upstream's error. It is sent with HTTP status 200, except that 2026-07-28 requires 400 if
 * the client lacks a capability.
 */
export const upstreamRefusal = (
  { code, message, data }: Pick<Refusal, 'code' | 'message' | 'data'>,
  era: Era,
): Refusal => refusal(era === 'stateless' && code === ERROR.missingCapability ? 400 : 200, code, message, data)

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
 * envelope, `{"jsonrpc":…,"result":{"tools":[…]}}`, so that nothing needs to be appended.
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

/** Returns the size of the JSON in bytes. */
export const sizeOf = ({ head, rest }: Json): number =>
  rest.reduce((bytes, { length }) => bytes + length, Buffer.byteLength(head))

export const responseText = ({ head, rest }: RpcResponse): string =>
  rest.length === 0 ? head : head + Buffer.concat(rest).toString()
