import { z } from 'zod'
import { MAX_CACHE_SECONDS } from '../../lib/kernel/limits.ts'
import { wholeNumberRule } from '../../lib/kernel/whole-number.ts'

const RULE = `${wholeNumberRule('seconds', 1, MAX_CACHE_SECONDS)}, a day`

export const cacheRules = {
  cacheSeconds: z
    .int(RULE)
    .min(1, RULE)
    .max(MAX_CACHE_SECONDS, RULE)
    .describe('how long a result is cached for calls that make the same request; for tools marked read-only'),
  cacheShared: z.boolean().describe('whether all callers share cached results; otherwise they are cached per caller'),
}
