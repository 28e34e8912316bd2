import { z } from 'zod'

export const DEFAULT_RESPONSE_TOKENS = 8_000
/** Beneath it there is room for little more than the line that says how to go on. */
const MIN_RESPONSE_TOKENS = 200
const MAX_RESPONSE_TOKENS = 1_000_000

/** A budget of tokens for one answer: 0, which is none at all, or one with room for something. */
export const responseTokens = z
  .int()
  .max(MAX_RESPONSE_TOKENS, 'is over 1,000,000')
  .refine(tokens => tokens === 0 || tokens >= MIN_RESPONSE_TOKENS, `is neither 0 nor at least ${MIN_RESPONSE_TOKENS}`)

/** The same as it is typed; undefined of an empty field. */
export const typedResponseTokens = z
  .string()
  .transform((text, context) => {
    const digits = text.trim().replaceAll(/[,_ ]/g, '')
    if (digits === '') return undefined
    if (/^\d{1,9}$/.test(digits)) return Number(digits)
    context.addIssue({ code: 'custom', message: 'is no whole number' })
    return z.NEVER
  })
  .pipe(responseTokens.optional())
