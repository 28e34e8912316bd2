import type { JsonObject } from '../kernel/index.ts'
import type { RequestId } from './message.ts'
import { ERROR } from './protocol.ts'

/** A JSON-RPC answer before it is written: a text, and ready-made bytes behind it where there are some. */
export type Answer = { status: number; head: string; page: Buffer | undefined }

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
  page: undefined,
})

/** `page` ends with the bracket that closes the envelope. */
export const pageAnswer = (id: RequestId, page: Buffer): Answer => ({
  status: 200,
  head: `{"jsonrpc":"2.0","id":${idText(id)},"result":`,
  page,
})

export const errorAnswer = (id: RequestId | null, { status, code, message, data }: Refusal): Answer => ({
  status,
  head: JSON.stringify({ jsonrpc: '2.0', id, error: data === undefined ? { code, message } : { code, message, data } }),
  page: undefined,
})

export const answerText = ({ head, page }: Answer): string => (page === undefined ? head : head + page.toString())
