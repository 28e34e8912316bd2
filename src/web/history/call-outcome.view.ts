import type { CallResult } from '../../history/call-result.ts'
import type { MaskedRequest } from '../../history/execution-record.ts'
import { statusWithPhrase } from '../../lib/outbound/reason-phrase.ts'

/** The end of a call, as far as it is known. `request` is undefined if none was built. */
type CallEnd = {
  result: CallResult
  status: number | undefined
  request: Pick<MaskedRequest, 'method' | 'answerAgeMs' | 'schemaMismatch'> | undefined
}

/** The results of calls in words, as the filters list them. */
export const RESULT_TEXTS: Readonly<Record<CallResult, string>> = {
  success: 'OK',
  rejected: 'Rejected',
  invalid_arguments: 'Invalid arguments',
  blocked: 'Blocked',
  timeout: 'Timed out',
  failed: 'Failed',
}

/** The method that the history gives to calls of attached MCP servers, which have no status. */
const MCP_METHOD = 'tools/call'

const successText = ({ status, request }: CallEnd): string => {
  const remarks = [
    ...(request?.answerAgeMs === undefined ? [] : ['cached']),
    ...(request?.schemaMismatch === undefined ? [] : ['not as in its schema']),
  ]
  return [status === undefined ? RESULT_TEXTS.success : statusWithPhrase(status), ...remarks].join(', ')
}

const failureText = ({ status, request }: CallEnd): string => {
  if (status === undefined) {
    if (request === undefined) return 'Not sent'
    return request.method === MCP_METHOD ? RESULT_TEXTS.failed : 'No response'
  }
  // Without an error status, the response could not be shaped, for example, or was cut off.
  return status >= 400 ? statusWithPhrase(status) : `${statusWithPhrase(status)}, unusable response`
}

/** Says how a response differs from the output schema, and what clients got. */
export const describeSchemaMismatch = (mismatch: string): string =>
  `Not as in the output schema: ${mismatch}. Clients get the whole text, and as structured content only what matches.`

/**
 * Describes how a call ended: in a few words, such as `200 OK`, `404 Not found`, `Invalid arguments` or `Timed out`, and
 * as the state that selects the color and shape of its sign. `rejected`: the call was refused, and other arguments,
 * rights or settings may help. `failed`: something does not work.
 */
export const showOutcome = (end: CallEnd): { text: string; state: 'good' | 'rejected' | 'failed' } => {
  switch (end.result) {
    case 'success':
      return { text: successText(end), state: 'good' }
    case 'invalid_arguments':
    case 'blocked':
      return { text: RESULT_TEXTS[end.result], state: 'rejected' }
    case 'rejected':
      return {
        text: end.status === undefined ? RESULT_TEXTS.rejected : statusWithPhrase(end.status),
        state: 'rejected',
      }
    case 'timeout':
      return { text: RESULT_TEXTS.timeout, state: 'failed' }
    case 'failed':
      return { text: failureText(end), state: 'failed' }
  }
}
