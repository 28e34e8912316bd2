/** Why an upstream cannot be used, or why a request to it failed. */
export type UpstreamFault =
  | 'misconfigured' // a value is missing in its configuration
  | 'command_not_found' // or not executable, or no such working directory
  | 'exited' // the process exited
  | 'not_mcp_output' // the process does not print MCP
  | 'no_response' // no response while connecting
  | 'refused' // or otherwise unreachable
  | 'blocked' // by the address guard
  | 'not_mcp' // the response is not MCP
  | 'unauthorized' // credentials are missing or rejected
  | 'http_status' // a server error
  | 'timeout' // of one operation
  | 'too_large' // a response, the output or the memory
  | 'protocol' // interrupted, or against the protocol
  | 'session_ended' // the session is unknown; nothing was done
  | 'unavailable' // failed repeatedly; wait for the next retry
  | 'aborted' // by the caller, or because Patchbay closes the connection

/**
 * An upstream cannot be used. `message` says what happened and what to do; it contains no secrets
 * and may be shown to callers. `cause` must not be shown.
 */
export class UpstreamError extends Error {
  override readonly name = 'UpstreamError'
  readonly kind: UpstreamFault
  /** The message without text from the upstream, for callers who may only see reviewed text. */
  readonly ownWords: string

  constructor(kind: UpstreamFault, message: string, options?: ErrorOptions & { ownWords?: string }) {
    super(message, options)
    this.kind = kind
    this.ownWords = options?.ownWords ?? message
  }
}

/** The upstream was disabled or removed while it was in use. */
export const upstreamGone = (): UpstreamError =>
  new UpstreamError('aborted', 'The MCP server is disabled or was removed.')

/** No working account for this use of an upstream. */
export class AccountError extends UpstreamError {
  /** Where the caller can connect their own account; undefined if a builder has to do it. */
  readonly connectUrl: string | undefined

  constructor(message: string, connectUrl: string | undefined) {
    super('unauthorized', message)
    this.connectUrl = connectUrl
  }
}
