import type { IncomingMessage } from 'node:http'

/** The outcome of a request to the authorization endpoint, if the library left the response to us. */
export type AuthorizationOutcome =
  | { kind: 'error'; status: number; error: string; description: string }
  /** The user must sign in before continuing the request with these `parameters`. */
  | { kind: 'sign_in'; parameters: URLSearchParams }

/** A browser's request to the authorization endpoint, and the user of its dashboard session. */
export type PendingAuthorization = { userId: string | undefined; outcome: AuthorizationOutcome | undefined }

/**
 * The current requests to the authorization endpoint, keyed by Node's request, which is the only object that the
 * library passes through.
 */
export type PendingAuthorizations = WeakMap<IncomingMessage, PendingAuthorization>
