import type { IncomingMessage } from 'node:http'

/** The outcome of a request to the authorization endpoint that the library did not respond to. */
export type AuthorizationOutcome =
  | { kind: 'error'; status: number; error: string; description: string }
  /** The user must sign in; `parameters` are those of the request to return to. */
  | { kind: 'sign_in'; parameters: URLSearchParams }

/** A browser's request to the authorization endpoint, and the user of its dashboard session. */
export type PendingAuthorization = { userId: string | undefined; outcome: AuthorizationOutcome | undefined }

/** The current requests to the authorization endpoint, by request: the only object of ours that the library passes on. */
export type PendingAuthorizations = WeakMap<IncomingMessage, PendingAuthorization>
