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
  /** Keeps the latest tokens while the connection is open: its upstream may have them in its name or instructions. */
  keepOpeningTokens: () => void
  /** Values to mask wherever text of the upstream is shown. */
  secrets: () => readonly string[]
}
