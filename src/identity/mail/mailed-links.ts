import { randomBytes } from 'node:crypto'
import { hashToken } from '../credentials.ts'

const HOUR_MS = 60 * 60 * 1_000

export type LinkPurpose = 'verify_email' | 'reset_password' | 'change_email'

/** How long each link is valid. Users who reset a password are waiting for it; others may open the mail tomorrow. */
export const LINK_TTL_MS: Readonly<Record<LinkPurpose, number>> = {
  verify_email: 24 * HOUR_MS,
  reset_password: HOUR_MS / 2,
  change_email: 24 * HOUR_MS,
}

const PATHS: Readonly<Record<LinkPurpose, string>> = {
  verify_email: '/verify-email',
  reset_password: '/reset-password',
  change_email: '/change-email',
}

const LINK_TOKEN_BYTES = 32
const LINK_TOKEN_FORMAT = /^[\w-]{43}$/

/** Creates a token for a link, with the hash to store. */
export const makeLinkToken = (): { token: string; tokenHash: string } => {
  const token = randomBytes(LINK_TOKEN_BYTES).toString('base64url')
  return { token, tokenHash: hashToken(token) }
}

/** Returns the hash to look up for a token; undefined if it does not have the form of a token. */
export const linkHashOf = (token: string): string | undefined =>
  LINK_TOKEN_FORMAT.test(token) ? hashToken(token) : undefined

export const buildLink = (baseUrl: string, purpose: LinkPurpose, token: string): string =>
  `${new URL(PATHS[purpose], baseUrl)}?${new URLSearchParams({ token })}`
