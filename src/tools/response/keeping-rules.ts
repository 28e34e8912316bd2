import { z } from 'zod'
import { MAX_CACHE_SECONDS } from '../../lib/kernel/limits.ts'
import { wholeNumberRule } from '../../lib/kernel/whole-number.ts'

const RULE = `${wholeNumberRule('seconds', 1, MAX_CACHE_SECONDS)}, a day`

/** How long a tool's answers are kept for the next call, and for whom, as the API takes it. */
export const keepingRules = {
  cacheSeconds: z
    .int(RULE)
    .min(1, RULE)
    .max(MAX_CACHE_SECONDS, RULE)
    .describe('how long an answer is kept for the next call that makes the same request; for tools marked read-only'),
  cacheShared: z
    .boolean()
    .describe('whether kept answers are the same for every caller; otherwise each caller has its own'),
}
