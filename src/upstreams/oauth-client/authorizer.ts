import type { AccountError } from '../connection/upstream-error.ts'

/** Supplies the tokens of one connection. */
export type Authorizer = {
  /**
   * Returns the token for this address. Throws AccountError if there is none, or UpstreamError if it cannot be renewed
   * now.
   */
  getToken: (url: string) => Promise<string>
  /** Returns another token after this one was rejected with 401. Throws the same errors as `getToken`. */
  renewToken: (url: string, refused: string) => Promise<string>
  /** Returns the error to report if the renewed token is rejected too. */
  refused: () => AccountError
  /**
   * Keeps the latest tokens in `secrets` while the connection is open, because the upstream's name or instructions may
   * contain them.
   */
  keepOpeningTokens: () => void
  /** Returns the values to mask wherever text from the upstream is shown. */
  secrets: () => readonly string[]
}
