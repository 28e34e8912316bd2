import { hash, randomBytes } from 'node:crypto'
import { Secret, TOTP } from 'otpauth'

/** RFC 6238 as every authenticator app takes it: SHA-1, six digits, a new code each half minute. */
const ALGORITHM = 'SHA1'
const DIGITS = 6
const PERIOD_SECONDS = 30
/** RFC 4226 §4 R6: 160 bits. */
const SECRET_BYTES = 20
/** Codes of the step before and the step after are good too: clocks differ, and typing takes a while. */
const DRIFT_STEPS = 1
/** What the app shows above the code. */
const ISSUER = 'Patchbay'

export const RECOVERY_CODES = 10
/** 80 bits: too many to find one by its hash, so that the hash needs neither salt nor stretching. */
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

/** A new secret, in base32 as people type it into an app. */
export const makeTotpSecret = (): string => new Secret({ size: SECRET_BYTES }).base32

const SECRET = /^[A-Z2-7]{32}$/

/** Whether a text may be a secret of ours at all. */
export const isTotpSecret = (text: string): boolean => SECRET.test(text)

/** What an app reads out of a QR code: `otpauth://totp/Patchbay:ada%40example.com?…`. */
export const totpUri = (secret: string, email: string): string => totpOf(secret, email).toString()

/** The time step that a code belongs to, if that is about `now` (milliseconds since 1970). */
export const findStep = (secret: string, code: string, now: number): number | undefined => {
  const totp = totpOf(secret, '')
  const delta = totp.validate({ token: code, timestamp: now, window: DRIFT_STEPS })
  return delta === null ? undefined : totp.counter({ timestamp: now }) + delta
}

/** What somebody typed for a code: people and apps put blanks and hyphens into both kinds. */
export const parseCode = (text: string): { kind: 'time' | 'recovery'; code: string } | undefined => {
  const code = text.replace(/[\s-]/g, '').toLowerCase()
  if (TIME_CODE.test(code)) return { kind: 'time', code }
  return RECOVERY_CODE.test(code) ? { kind: 'recovery', code } : undefined
}

/** A new recovery code: `abcd-efgh-ijkl-mnop`. */
export const makeRecoveryCode = (): string => {
  const bytes = Uint8Array.from(randomBytes(RECOVERY_CODE_BYTES))
  const letters = new Secret({ buffer: bytes.buffer }).base32.toLowerCase()
  return letters.replace(/.{4}(?=.)/g, '$&-')
}

/** `code` as `parseCode` answers it. */
export const hashRecoveryCode = (code: string): string => hash('sha256', code)
