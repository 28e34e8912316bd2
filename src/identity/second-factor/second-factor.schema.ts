import { z } from 'zod'
import { MAX_PASSWORD_CHARACTERS } from '../credentials.ts'

/** Maximum length of a code, longer than either kind with any typed spaces. */
const MAX_CODE_CHARACTERS = 64

/** A password to check. Only its length is limited. */
export const ownPassword = z.string().max(4 * MAX_PASSWORD_CHARACTERS)
export const code = z
  .string()
  .max(MAX_CODE_CHARACTERS, `must not exceed ${MAX_CODE_CHARACTERS} characters`)
  .describe('Six digits from the authenticator app, or a recovery code')

// An empty field is not a guess, so it is rejected before the attempt is counted.
const given = <T extends z.ZodString>(schema: T) => schema.min(1, 'is missing')

export const NewSecondFactor = z.object({ password: given(ownPassword) })
export const Confirmation = z.object({ code: given(code) })
export const Proof = z.object({ password: given(ownPassword), code: given(code) })

export const SecondFactorView = z.object({ isOn: z.boolean(), recoveryCodesLeft: z.int() }).meta({ id: 'SecondFactor' })

export const NewSecondFactorView = z
  .object({
    secret: z.string().describe('Base32, for typing into an authenticator app'),
    uri: z.string().describe('otpauth: URI, for a QR code'),
  })
  .meta({ id: 'NewSecondFactor' })

export const RecoveryCodesView = z
  .object({ recoveryCodes: z.array(z.string()).describe('Each works once in place of a code; returned only once') })
  .meta({ id: 'RecoveryCodes' })
