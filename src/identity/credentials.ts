import { hash, randomBytes, timingSafeEqual } from 'node:crypto'

/**
 * NIST SP 800-63B §3.1.1.2: at least eight characters, no composition rules. The maximum only bounds the hashing work.
 */
export const MIN_PASSWORD_CHARACTERS = 8
export const MAX_PASSWORD_CHARACTERS = 256
/** Shown below the password field. */
export const PASSWORD_HINT = `${MIN_PASSWORD_CHARACTERS} to ${MAX_PASSWORD_CHARACTERS} characters.`
/** Longest email address that can receive mail (RFC 5321 §4.5.3.1.3). */
export const MAX_EMAIL_CHARACTERS = 254

/** Makes tokens recognizable to people and to secret scanners. */
const TOKEN_PREFIX = 'pbk_'
const TOKEN_BYTES = 32
const TOKEN_FORMAT = /^pbk_[\w-]{43}$/

/** Creates a personal access token from 32 random bytes. */
export const makeToken = (): string => `${TOKEN_PREFIX}${randomBytes(TOKEN_BYTES).toString('base64url')}`

/** Returns whether a string has the form of a personal access token. Strings without it need no database lookup. */
export const isToken = (text: string): boolean => TOKEN_FORMAT.test(text)

/** Hashes a token for storage and lookup. Needs no salt or stretching because the token has 256 random bits. */
export const hashToken = (token: string): string => hash('sha256', token)

/** Compares two secrets of any length in constant time. */
export const isSameSecret = (one: string, other: string): boolean =>
  timingSafeEqual(hash('sha256', one, 'buffer'), hash('sha256', other, 'buffer'))
