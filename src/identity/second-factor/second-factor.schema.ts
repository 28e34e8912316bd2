import { z } from 'zod'
import { MAX_PASSWORD_CHARACTERS } from './credentials.ts'

/** Longer than either kind of code with all the blanks that people type. */
const MAX_CODE_CHARACTERS = 64

/** A password that is to be checked: no rule but a bound. */
export const ownPassword = z.string().max(4 * MAX_PASSWORD_CHARACTERS)
export const code = z
  .string()
  .max(MAX_CODE_CHARACTERS, `is longer than ${MAX_CODE_CHARACTERS} characters`)
  .describe('Six digits of the app, or a recovery code')

// What is not typed at all is no guess: it is told before anything is counted.
const given = <T extends z.ZodString>(schema: T) => schema.min(1, 'is missing')

export const NewSecondFactor = z.object({ password: given(ownPassword) })
export const Confirmation = z.object({ code: given(code) })
export const Proof = z.object({ password: given(ownPassword), code: given(code) })

export const SecondFactorView = z.object({ isOn: z.boolean(), recoveryCodesLeft: z.int() }).meta({ id: 'SecondFactor' })

export const NewSecondFactorView = z
  .object({
    secret: z.string().describe('In base32, for typing into an authenticator app'),
    uri: z.string().describe('otpauth: for a QR code'),
  })
  .meta({ id: 'NewSecondFactor' })

export const RecoveryCodesView = z
  .object({ recoveryCodes: z.array(z.string()).describe('Each good once, in place of a code: shown this once') })
  .meta({ id: 'RecoveryCodes' })
