import { Secret, TOTP } from 'otpauth'
import { z } from 'zod'
import type { createBrowser } from '../support/browser.ts'

const STEP_MS = 30_000

export const NewSecondFactor = z.object({ secret: z.string(), uri: z.string() })
export const RecoveryCodes = z.object({ recoveryCodes: z.array(z.string()) })

/** Returns the code that an authenticator app shows now, or `steps` time steps from now. */
export const codeOf = (secret: string, steps = 0): string =>
  new TOTP({ secret: Secret.fromBase32(secret) }).generate({ timestamp: Date.now() + steps * STEP_MS })

/** Turns on a second factor for the signed-in user. This uses up the codes of the current and earlier time steps. */
export const turnOn = async (browser: ReturnType<typeof createBrowser>, password: string) => {
  await browser.loadCsrfToken()
  const { secret, uri } = NewSecondFactor.parse((await browser.send('POST', '/me/second-factor', { password })).json())
  const confirmingCode = codeOf(secret)
  const confirmed = await browser.send('POST', '/me/second-factor/confirmation', { code: confirmingCode })
  return { secret, uri, confirmingCode, ...RecoveryCodes.parse(confirmed.json()) }
}
