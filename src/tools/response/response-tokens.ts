import { z } from 'zod'
import { readWholeNumber, wholeNumberRule } from '../../lib/kernel/whole-number.ts'

export const DEFAULT_RESPONSE_TOKENS = 8_000
/** A smaller budget leaves little room for anything but the truncation notice. */
const MIN_RESPONSE_TOKENS = 200
const MAX_RESPONSE_TOKENS = 1_000_000

const RULE = `${wholeNumberRule('', MIN_RESPONSE_TOKENS, MAX_RESPONSE_TOKENS)}, or 0 for no limit`

/** Token budget for one result. 0 means no limit. */
export const responseTokens = z
  .int(RULE)
  .max(MAX_RESPONSE_TOKENS, RULE)
  .refine(tokens => tokens === 0 || tokens >= MIN_RESPONSE_TOKENS, RULE)

/** Parses the value of a form field. Returns undefined if it is empty. */
export const typedResponseTokens = z.string().transform(readWholeNumber).pipe(responseTokens.optional())
