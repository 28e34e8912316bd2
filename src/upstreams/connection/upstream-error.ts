/** What keeps an upstream from being used, or ended a use of it. */
export type UpstreamFault =
  | 'misconfigured' // its configuration has no value for something
  | 'command_not_found' // no such command, no right to run it, or no such working directory
  | 'exited' // the process ended
  | 'rubbish' // what the process prints is no MCP
  | 'silent' // it never answered while the connection was made
  | 'refused' // nobody listens there, or it cannot be reached
  | 'blocked' // the address guard said no
  | 'not_mcp' // it answers, but no MCP
  | 'unauthorized' // it asks for credentials, or refuses those it got
  | 'http_status' // it answers that it cannot serve
  | 'timeout' // one operation took too long
  | 'too_large' // an answer, the output or the memory is over its limit
  | 'protocol' // broken off, or against the protocol
  | 'session_ended' // the upstream no longer knows our session; it did nothing
  | 'unavailable' // it failed over and over: no further try before the next one that is due
  | 'aborted' // given up by whoever asked, or Patchbay closes the connection

/**
 * An upstream that cannot be used. `message` says what happened and what to do, holds no secret and may be shown to
 * whoever calls; `cause` may not.
 */
export class UpstreamError extends Error {
  override readonly name = 'UpstreamError'
  readonly kind: UpstreamFault
  /** The message without what the upstream itself said: for whoever may hear only what a builder has approved. */
  readonly ownWords: string

  constructor(kind: UpstreamFault, message: string, options?: ErrorOptions & { ownWords?: string }) {
    super(message, options)
    this.kind = kind
    this.ownWords = options?.ownWords ?? message
  }
}

/** There is no account for this use of an upstream, or none that is good any more. */
export class AccountError extends UpstreamError {
  /** Where whoever calls connects their own; undefined where that is for a builder to do. */
  readonly connectUrl: string | undefined

  constructor(message: string, connectUrl: string | undefined) {
    super('unauthorized', message)
    this.connectUrl = connectUrl
  }
}
