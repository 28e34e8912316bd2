import { hash, randomBytes } from 'node:crypto'
import { Secret, TOTP } from 'otpauth'

/** RFC 6238 parameters that every authenticator app supports: SHA-1, six digits, 30 seconds. */
const ALGORITHM = 'SHA1'
const DIGITS = 6
const PERIOD_SECONDS = 30
/** RFC 4226 §4 R6: 160 bits. */
const SECRET_BYTES = 20
/** Codes of the previous and the next step are also accepted, because clocks differ and typing takes time. */
const DRIFT_STEPS = 1
/** Name that authenticator apps show next to the code. */
const ISSUER = 'Patchbay'

export const RECOVERY_CODES = 10
/** 80 random bits cannot be guessed from a hash, so the hash needs neither salt nor stretching. */
const RECOVERY_CODE_BYTES = 10
const RECOVERY_CODE = /^[a-z2-7]{16}$/
const TIME_CODE = /^\d{6}$/

const totpOf = (secret: string, label: string): TOTP =>
  new TOTP({
    issuer: ISSUER,
    label,
    algorithm: ALGORITHM,
    digits: DIGITS,
    period: PERIOD_SECONDS,
    secret: Secret.fromBase32(secret),
  })

/** Creates a secret, encoded in base32 so that users can type it into an app. */
export const makeTotpSecret = (): string => new Secret({ size: SECRET_BYTES }).base32

const SECRET = /^[A-Z2-7]{32}$/

export const isTotpSecret = (text: string): boolean => SECRET.test(text)

/** Returns the URI for the QR code: `otpauth://totp/Patchbay:ada%40example.com?…`. */
export const totpUri = (secret: string, email: string): string => totpOf(secret, email).toString()

/** Returns the time step of a code, or undefined if the code is not valid now. */
export const findStep = (secret: string, code: string): number | undefined => {
  const totp = totpOf(secret, '')
  const now = Date.now()
  const delta = totp.validate({ token: code, timestamp: now, window: DRIFT_STEPS })
  return delta === null ? undefined : totp.counter({ timestamp: now }) + delta
}

/** Parses a typed code, ignoring the spaces and hyphens that people and apps add. */
export const parseCode = (text: string): { kind: 'time' | 'recovery'; code: string } | undefined => {
  const code = text.replace(/[\s-]/g, '').toLowerCase()
  if (TIME_CODE.test(code)) return { kind: 'time', code }
  return RECOVERY_CODE.test(code) ? { kind: 'recovery', code } : undefined
}

/** Creates a recovery code such as `abcd-efgh-ijkl-mnop`. */
export const makeRecoveryCode = (): string => {
  const bytes = Uint8Array.from(randomBytes(RECOVERY_CODE_BYTES))
  const letters = new Secret({ buffer: bytes.buffer }).base32.toLowerCase()
  return letters.replace(/.{4}(?=.)/g, '$&-')
}

/** Hashes a recovery code, normalized by `parseCode`. */
export const hashRecoveryCode = (code: string): string => hash('sha256', code)
