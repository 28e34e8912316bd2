import { z } from 'zod'
import { readWholeNumber, wholeNumberRule } from '../../lib/kernel/whole-number.ts'

export const DEFAULT_RESPONSE_TOKENS = 8_000
/** Beneath it there is room for little more than the line that says how to go on. */
const MIN_RESPONSE_TOKENS = 200
const MAX_RESPONSE_TOKENS = 1_000_000

const RULE = `${wholeNumberRule('', MIN_RESPONSE_TOKENS, MAX_RESPONSE_TOKENS)}, or 0, which sends everything`

/** A budget of tokens for one answer: 0, which is none at all, or one with room for something. */
export const responseTokens = z
  .int(RULE)
  .max(MAX_RESPONSE_TOKENS, RULE)
  .refine(tokens => tokens === 0 || tokens >= MIN_RESPONSE_TOKENS, RULE)

/** The same as it is typed; undefined of an empty field. */
export const typedResponseTokens = z.string().transform(readWholeNumber).pipe(responseTokens.optional())
