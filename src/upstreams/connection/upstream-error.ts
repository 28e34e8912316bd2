import type { CallResult } from '../../history/call-result.ts'

/** The reason that an upstream cannot be used or that a request to it failed. */
export type UpstreamFault =
  | 'misconfigured' // a value in its configuration is missing or not valid
  | 'command_not_found' // or not executable, or the working directory does not exist
  | 'exited' // the process exited
  | 'not_mcp_output' // the process does not print MCP messages
  | 'no_response' // no response while connecting
  | 'connect_timeout' // no connection in time
  | 'refused' // or otherwise unreachable
  | 'blocked' // by the address guard
  | 'not_mcp' // the response is not an MCP message
  | 'unauthorized' // credentials are missing or rejected
  | 'http_status' // a server error
  | 'timeout' // of one operation
  | 'too_large' // a response, the output or the memory use
  | 'protocol' // interrupted, or a protocol violation
  | 'session_ended' // the session is unknown; the request had no effect
  | 'unavailable' // failed repeatedly; wait for the next retry
  | 'aborted' // by the caller, or because Patchbay closed the connection

/**
 * Thrown when an upstream cannot be used. `message` says what happened and what to do. It contains no secrets and may
 * be shown to callers. `cause` must not be shown.
 */
export class UpstreamError extends Error {
  override readonly name = 'UpstreamError'
  readonly kind: UpstreamFault
  /** The message without any text from the upstream, for callers who may see only reviewed text. */
  readonly ownWords: string

  constructor(kind: UpstreamFault, message: string, options?: ErrorOptions & { ownWords?: string }) {
    super(message, options)
    this.kind = kind
    this.ownWords = options?.ownWords ?? message
  }
}

/** Returns how a call ended that could not use the upstream for this reason. */
export const resultOfUpstreamFault = (kind: UpstreamFault): CallResult => {
  switch (kind) {
    case 'timeout':
    case 'connect_timeout':
    case 'no_response':
      return 'timeout'
    case 'blocked':
      return 'blocked'
    default:
      return 'failed'
  }
}

/** Returns the error for an upstream that was disabled or removed while it was in use. */
export const upstreamGone = (): UpstreamError =>
  new UpstreamError('aborted', 'The MCP server is disabled or was removed.')

/** Thrown when there is no working account for this use of an upstream. */
export class AccountError extends UpstreamError {
  /** The URL where the caller can connect their own account, or undefined if a builder has to connect it. */
  readonly connectUrl: string | undefined

  constructor(message: string, connectUrl: string | undefined) {
    super('unauthorized', message)
    this.connectUrl = connectUrl
  }
}
