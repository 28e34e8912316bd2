import type { AccountError } from '../connection/upstream-error.ts'

/** What a connection shows an upstream that asks for authorization. */
export type Authorizer = {
  /** The token to send to this address. Throws AccountError where there is none, UpstreamError where it is not renewed now. */
  getToken: (url: string) => Promise<string>
  /** Another one, after this one was refused with 401. Throws as `getToken`. */
  renewToken: (url: string, refused: string) => Promise<string>
  /** What to tell where the other one is refused as well. */
  refused: () => AccountError
  /** Values that may be shown nowhere. */
  secrets: () => readonly string[]
}
