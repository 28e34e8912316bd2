import type { IncomingMessage } from 'node:http'
import type { Client } from 'oidc-provider'

/** The outcome of a request to the authorization endpoint, if the library left the response to us. */
export type AuthorizationOutcome =
  | { kind: 'error'; status: number; error: string; description: string }
  /** The user must sign in before continuing the request with these `parameters`. */
  | { kind: 'sign_in'; parameters: URLSearchParams }
  /** The user must choose the server, which the client left open, before continuing the request. */
  | { kind: 'choose_server'; parameters: URLSearchParams; client: Client }

/** A browser's request to the authorization endpoint, and the user of its dashboard session. */
export type PendingAuthorization = { userId: string | undefined; outcome: AuthorizationOutcome | undefined }

/**
 * The current requests to the authorization endpoint, keyed by Node's request, which is the only object that the
 * library passes through.
 */
export type PendingAuthorizations = WeakMap<IncomingMessage, PendingAuthorization>
