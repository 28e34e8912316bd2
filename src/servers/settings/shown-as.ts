import { z } from 'zod'
import { formatNumber } from '../../lib/http/pages/format.ts'
import type { Server } from '../server.ts'

/** Which of two presentations a server has whose builder leaves that to what its tools cost a model, and why. */
export type ShownAs = {
  presentation: 'flat' | 'search'
  /** What its tools cost, each listed by itself. */
  tokens: number
  /** What they may cost to be listed so. */
  maxTokens: number
}

/** Undefined where the server is gone. Whoever asks has looked whether they may see it. */
export type FindShownAs = (serverId: string) => Promise<ShownAs | undefined>

/** What `auto` has come to, in a sentence. */
export const explainShownAs = ({ presentation, tokens, maxTokens }: ShownAs): string =>
  presentation === 'flat'
    ? `The tools cost ${formatNumber(tokens)} tokens, which is within ${formatNumber(maxTokens)}: each is listed by itself.`
    : `The tools cost ${formatNumber(tokens)} tokens, which is more than ${formatNumber(maxTokens)}: they are behind a search.`

/** Undefined where the builder has said it themselves. */
export const findShownAsOf = async (
  { id, presentation }: Server,
  find: FindShownAs | undefined,
): Promise<ShownAs | undefined> => (presentation === 'auto' ? find?.(id) : undefined)

export const ShownAsView = z.object({
  presentation: z.enum(['flat', 'search']),
  tokens: z.int().describe('what the tools cost, each listed by itself'),
  maxTokens: z.int(),
  why: z.string(),
})

export const toShownAsView = (shownAs: ShownAs): z.infer<typeof ShownAsView> => ({
  ...shownAs,
  why: explainShownAs(shownAs),
})
