import type { JsonObject } from '../kernel/index.ts'
import type { RequestId } from './message.ts'
import { ERROR } from './protocol.ts'

/** A JSON text before it is written: its start, and ready-made bytes behind it where there are some. */
export type Json = { head: string; rest: readonly Buffer[] }

/** A JSON-RPC answer before it is written. */
export type Answer = Json & { status: number }

const NOTHING: readonly Buffer[] = []

/** Why a request gets no result; `status` is the HTTP status where the transport can still say one. */
export type Refusal = { status: number; code: number; message: string; data?: JsonObject }

export const refusal = (status: number, code: number, message: string, data?: JsonObject): Refusal =>
  data === undefined ? { status, code, message } : { status, code, message, data }

/** What is wrong with the request's parameters; answered in-band, as the SDK does. */
export const invalidParams = (message: string, data?: JsonObject): Refusal =>
  refusal(200, ERROR.invalidParams, message, data)

/** An id as it goes back on the wire. */
export const idText = (id: RequestId): string => (typeof id === 'number' ? String(id) : JSON.stringify(id))

export const resultAnswer = (id: RequestId, result: string): Answer => ({
  status: 200,
  head: `{"jsonrpc":"2.0","id":${idText(id)},"result":${result}}`,
  rest: NOTHING,
})

/** `result` ends with the bracket that closes the envelope. */
export const bytesAnswer = (id: RequestId, { head, rest }: Json): Answer => ({
  status: 200,
  head: `{"jsonrpc":"2.0","id":${idText(id)},"result":${head}`,
  rest,
})

export const errorAnswer = (id: RequestId | null, { status, code, message, data }: Refusal): Answer => ({
  status,
  head: JSON.stringify({ jsonrpc: '2.0', id, error: data === undefined ? { code, message } : { code, message, data } }),
  rest: NOTHING,
})

/** Bytes of the whole. */
export const sizeOf = ({ head, rest }: Json): number =>
  rest.reduce((bytes, { length }) => bytes + length, Buffer.byteLength(head))

export const answerText = ({ head, rest }: Answer): string =>
  rest.length === 0 ? head : head + Buffer.concat(rest).toString()
