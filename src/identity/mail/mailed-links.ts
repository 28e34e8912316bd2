import { randomBytes } from 'node:crypto'
import { HOUR_MS } from '../../lib/kernel/durations.ts'
import { hashToken } from '../credentials.ts'

/**
 * The page of each link and how long the link is valid. Users wait for a password reset email, but may open other
 * emails the next day.
 */
export const LINKS = {
  verify_email: { path: '/verify-email', ttlMs: 24 * HOUR_MS },
  reset_password: { path: '/reset-password', ttlMs: HOUR_MS / 2 },
  change_email: { path: '/change-email', ttlMs: 24 * HOUR_MS },
}
export type LinkPurpose = keyof typeof LINKS

const LINK_TOKEN_BYTES = 32
const LINK_TOKEN_FORMAT = /^[\w-]{43}$/

/** Creates a token for a link and the hash to store. */
export const makeLinkToken = (): { token: string; tokenHash: string } => {
  const token = randomBytes(LINK_TOKEN_BYTES).toString('base64url')
  return { token, tokenHash: hashToken(token) }
}

/** Returns the hash to look up for a token, or undefined if the text does not have the form of a token. */
export const linkHashOf = (token: string): string | undefined =>
  LINK_TOKEN_FORMAT.test(token) ? hashToken(token) : undefined
