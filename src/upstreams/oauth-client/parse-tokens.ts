import type { OAuthTokens } from '@modelcontextprotocol/client'
import { failure, type Result, success } from '../../lib/kernel/result.ts'
import type { Tokens } from './account.ts'

/** How long before its expiry a token is renewed. */
const RENEWAL_MARGIN_MS = 5 * 60_000
/** Maximum token lifetime. Longer lifetimes are capped at this value, so that the expiry is always a valid date. */
const MAX_LIFE_MS = 366 * 24 * 60 * 60_000
/** Characters that a header can carry (RFC 6750 §2.1 allows fewer); far above the length of any real token. */
const TOKEN = /^[\x21-\x7e]{1,16384}$/
const MAX_SCOPE_CHARS = 4_096

const lifeOf = ({ expires_in: seconds }: OAuthTokens): number | undefined => {
  if (seconds === undefined || !Number.isFinite(seconds) || seconds <= 0) return undefined
  return Math.min(seconds * 1_000, MAX_LIFE_MS)
}

/** Parses a token response. A failure says what is wrong with the response. */
export const parseTokens = (response: OAuthTokens, now: number): Result<Tokens, string> => {
  const { access_token: accessToken, refresh_token: refreshToken, token_type: type, scope } = response
  if (type.toLowerCase() !== 'bearer') return failure('its token type is not Bearer')
  if (!TOKEN.test(accessToken)) return failure('its token is not valid in a header')
  if (refreshToken !== undefined && !TOKEN.test(refreshToken)) return failure('its refresh token is invalid')
  const lifeMs = lifeOf(response)
  return success({
    accessToken,
    refreshToken,
    scope: scope?.slice(0, MAX_SCOPE_CHARS),
    // Renews a short-lived token after half of its lifetime.
    ...(lifeMs !== undefined && {
      expiresAt: now + lifeMs,
      renewAt: now + Math.max(lifeMs - RENEWAL_MARGIN_MS, lifeMs / 2),
    }),
  })
}
