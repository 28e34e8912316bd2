import type { AccountError } from '../connection/upstream-error.ts'

/** Supplies the tokens of one connection. */
export type Authorizer = {
  /**
   * Returns the token for this address. Throws AccountError if there is none, UpstreamError if it cannot be renewed
   * now.
   */
  getToken: (url: string) => Promise<string>
  /** Returns another token after this one was rejected with 401. Throws as `getToken` does. */
  renewToken: (url: string, refused: string) => Promise<string>
  /** The error for when the renewed token is rejected too. */
  refused: () => AccountError
  /** Values to mask wherever text of the upstream is shown. */
  secrets: () => readonly string[]
}
