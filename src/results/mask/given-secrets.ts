import { MAX_SECRET_BYTES } from '../../lib/kernel/limits.ts'
import type { Masker } from './masking.ts'
import { type ArgumentsToRecord, listSecretTexts } from './recorded-arguments.ts'

/** Limits for secrets among the arguments, because a search is prepared for them on the main thread. */
const MAX_GIVEN = 50
const MAX_GIVEN_CHARACTERS = MAX_SECRET_BYTES

/**
 * Returns a masker that also hides the secrets that the caller gave as arguments, or undefined if they are too long or
 * too many, or among too many arguments.
 */
export const withGiven = (masker: Masker, args: ArgumentsToRecord | undefined): Masker | undefined => {
  const found = args === undefined ? new Set<string>() : listSecretTexts(args)
  if (found === undefined) return undefined
  if (found.size === 0) return masker
  const given = [...found]
  const characters = given.reduce((sum, { length }) => sum + length, 0)
  return given.length <= MAX_GIVEN && characters <= MAX_GIVEN_CHARACTERS ? masker.also(() => given) : undefined
}
