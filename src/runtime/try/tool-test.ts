import type { OutboundResponse } from '../platform/net/index.ts'
import type { ToolResult } from './compiled-server.ts'
import { toCurl } from './curl.ts'
import type { Masker } from './masking.ts'
import { type CallOutcome, maskRequest, toMicroseconds } from './perform-call.ts'

/** What `POST /tools/:id/test` shows, and a page that sends a tool; secrets masked. */
export type ToolTest = {
  request:
    | { method: string; url: string; headers: readonly (readonly [string, string])[]; body?: string | undefined }
    | undefined
  response:
    | {
        status: number
        statusText: string
        headers: Record<string, string | string[]>
        body: string
        /** Of the body as it came. */
        bytes: number
        durationMs: number
      }
    | undefined
  curl: string | undefined
  result: ToolResult
}

const maskHeaders = (headers: OutboundResponse['headers'], masker: Masker) =>
  Object.fromEntries(
    Object.entries(headers).map(([name, value]) => [
      name,
      typeof value === 'string' ? masker.text(value) : value.map(masker.text),
    ]),
  )

const showResponse = (response: OutboundResponse, durationMs: number, masker: Masker): ToolTest['response'] => ({
  status: response.status,
  statusText: masker.text(response.statusText),
  headers: maskHeaders(response.headers, masker),
  body: masker.text(response.body.toString('utf8')).toWellFormed(),
  bytes: response.body.length,
  durationMs: toMicroseconds(durationMs),
})

/** The outcome of a call as one who tries a tool sees it. */
export const showTest = ({ result, request, response, durationMs }: CallOutcome, masker: Masker): ToolTest => {
  const shown = request && maskRequest(request, masker)
  return {
    request: shown,
    response: response && showResponse(response, durationMs, masker),
    curl: shown && toCurl(shown),
    result,
  }
}
