import { hash, randomBytes, timingSafeEqual } from 'node:crypto'

/** NIST SP 800-63B §3.1.1.2: at least eight characters and no rule on which; the most only bounds the work. */
export const MIN_PASSWORD_CHARACTERS = 8
export const MAX_PASSWORD_CHARACTERS = 256
/** As pages say it beside a field. */
export const PASSWORD_HINT = `${MIN_PASSWORD_CHARACTERS} to ${MAX_PASSWORD_CHARACTERS} characters.`
/** Longest address that mail can be sent to (RFC 5321 §4.5.3.1.3). */
export const MAX_EMAIL_CHARACTERS = 254

/** So that a token is known for one wherever it turns up, to people and to secret scanners. */
const TOKEN_PREFIX = 'pbk_'
const TOKEN_BYTES = 32
const TOKEN_FORMAT = /^pbk_[\w-]{43}$/

/** A new personal access token: 32 random bytes. */
export const makeToken = (): string => `${TOKEN_PREFIX}${randomBytes(TOKEN_BYTES).toString('base64url')}`

/** Whether a text may be a personal access token at all: others need no look into the database. */
export const isToken = (text: string): boolean => TOKEN_FORMAT.test(text)

/** What is stored and looked up of a token. Without salt or stretching: 256 random bits need neither. */
export const hashToken = (token: string): string => hash('sha256', token)

/** Compares two secrets of any length in a time that tells nothing about either. */
export const isSameSecret = (one: string, other: string): boolean =>
  timingSafeEqual(hash('sha256', one, 'buffer'), hash('sha256', other, 'buffer'))
