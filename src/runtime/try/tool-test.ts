import { roundToMicroseconds } from '../../history/execution-record.ts'
import type { StopSignal } from '../../lib/kernel/stop-signal.ts'
import type { OutboundResponse } from '../../lib/outbound/outbound-request.ts'
import type { Masker } from '../../results/mask/masking.ts'
import { maskRequest } from '../../results/mask/record-call.ts'
import { endWith } from '../call/tool-result.ts'
import type { PerformedCall } from '../perform-call.ts'
import { toCurl } from './curl.ts'

const maskHeaders = (headers: OutboundResponse['headers'], masker: Masker) =>
  Object.fromEntries(
    Object.entries(headers).map(([name, value]) => [
      name,
      typeof value === 'string' ? masker.text(value) : value.map(masker.text),
    ]),
  )

const showResponse = async (response: OutboundResponse, durationMs: number, masker: Masker, signal: StopSignal) => ({
  status: response.status,
  headers: maskHeaders(response.headers, masker),
  body: (await masker.long.text(response.body.toString('utf8'), signal)).toWellFormed(),
  bytes: response.body.length,
  durationMs: roundToMicroseconds(durationMs),
})

/** Converts a call's outcome for display to the user who tries the tool. */
export const showTest = async (
  { result, callResult, request, response, schemaMismatch, nextPage, durationMs, timing, attempts }: PerformedCall,
  masker: Masker,
  signal: StopSignal,
) => {
  const shown = request && maskRequest(request, masker)
  return {
    request: shown,
    response: response && (await showResponse(response, durationMs, masker, signal)),
    curl: shown && toCurl(shown),
    result: nextPage === undefined ? result : endWith(result, nextPage),
    nextPage,
    callResult,
    schemaMismatch: schemaMismatch && masker.text(schemaMismatch),
    timing,
    attempts,
  }
}

/** The result of `POST /tools/:id/test` and of the tool editor, with secrets masked. */
export type ToolTest = Awaited<ReturnType<typeof showTest>>
