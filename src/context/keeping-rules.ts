import { z } from 'zod'
import { MAX_CACHE_SECONDS } from '../kernel/index.ts'

/** How long a tool's answers are kept for the next call, and for whom, as the API takes it. */
export const keepingRules = {
  cacheSeconds: z
    .int()
    .min(1, 'is less than 1')
    .max(MAX_CACHE_SECONDS, `is over ${MAX_CACHE_SECONDS.toLocaleString('en')}, a day`)
    .describe('how long an answer is kept for the next call that makes the same request; for tools marked read-only'),
  cacheShared: z
    .boolean()
    .describe('whether kept answers are the same for every caller; otherwise each caller has its own'),
}
