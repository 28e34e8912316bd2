import type { OAuthTokens } from '@modelcontextprotocol/client'
import { failure, type Result, success } from '../../lib/kernel/result.ts'
import type { Tokens } from './account.ts'

/** So long before its end a token is renewed. */
const RENEWAL_MARGIN_MS = 5 * 60_000
/** What a token may last at most, whatever is said of it: beyond it times are none any more. */
const MAX_LIFE_MS = 366 * 24 * 60 * 60_000
/** What goes into a header as it is (RFC 6750 §2.1 has less); far above any real token. */
const TOKEN = /^[\x21-\x7e]{1,16384}$/
const MAX_SCOPE_CHARS = 4_096

const lifeOf = ({ expires_in: seconds }: OAuthTokens): number | undefined => {
  if (seconds === undefined || !Number.isFinite(seconds) || seconds <= 0) return undefined
  return Math.min(seconds * 1_000, MAX_LIFE_MS)
}

/** What an authorization server answered for tokens, as it is kept. Fails with what is wrong with it. */
export const readTokens = (answer: OAuthTokens, now: number): Result<Tokens, string> => {
  const { access_token: accessToken, refresh_token: refreshToken, token_type: type, scope } = answer
  if (type.toLowerCase() !== 'bearer') return failure('its token is none to be shown as it is (Bearer)')
  if (!TOKEN.test(accessToken)) return failure('its token is none that fits a header')
  if (refreshToken !== undefined && !TOKEN.test(refreshToken)) return failure('its refresh token is none')
  const lifeMs = lifeOf(answer)
  return success({
    accessToken,
    refreshToken,
    scope: scope?.slice(0, MAX_SCOPE_CHARS),
    // Of one that lasts no longer than the margin, half is used before it is renewed.
    ...(lifeMs !== undefined && {
      expiresAt: now + lifeMs,
      renewAt: now + Math.max(lifeMs - RENEWAL_MARGIN_MS, lifeMs / 2),
    }),
  })
}
