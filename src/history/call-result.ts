import type { OutboundFault } from '../lib/outbound/outbound-fault.ts'

/**
 * How a call ended, in more detail than its outcome, which is `ok` only for `success`.
 *
 * - `rejected`: the API or MCP server refused the call, as with a 4xx status
 * - `failed`: any other error
 * - `timeout`: the API or MCP server took too long
 * - `blocked`: Patchbay did not send the request, because of its address or because a limit is reached
 * - `invalid_arguments`: the arguments were refused
 */
export const CALL_RESULTS = ['success', 'rejected', 'failed', 'timeout', 'blocked', 'invalid_arguments'] as const
export type CallResult = (typeof CALL_RESULTS)[number]

/** Returns the result of a call that ended with an error and, if there was a response, with this status. */
export const resultOfErrorStatus = (status: number | undefined): CallResult =>
  status !== undefined && status >= 400 && status <= 499 ? 'rejected' : 'failed'

type ResultColumns = { result: CallResult | null; outcome: string; status: number | null }

/** Returns the result of a stored call. In rows from before results were recorded, it follows from outcome and status. */
export const resultOfRow = ({ result, outcome, status }: ResultColumns): CallResult =>
  result ?? (outcome === 'ok' ? 'success' : resultOfErrorStatus(status ?? undefined))

/** Returns the result of a call whose request got no complete response. */
export const resultOfFault = (fault: OutboundFault): CallResult => {
  switch (fault) {
    case 'timeout':
    case 'connect_timeout':
      return 'timeout'
    case 'blocked':
      return 'blocked'
    default:
      return 'failed'
  }
}
