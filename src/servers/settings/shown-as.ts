import { z } from 'zod'
import { formatNumber } from '../../lib/kernel/format.ts'
import type { Server } from '../server.ts'

/** The presentation that `auto` selected, and the reason. */
export type ShownAs = {
  presentation: 'flat' | 'search'
  tokens: number
  /** Maximum token cost at which all tools are listed. */
  maxTokens: number
}

/**
 * Finds the presentation that `auto` selected. Returns undefined if the server no longer exists. The caller checks
 * access.
 */
export type FindShownAs = (serverId: string) => Promise<ShownAs | undefined>

export const explainShownAs = ({ presentation, tokens, maxTokens }: ShownAs): string =>
  presentation === 'flat'
    ? `The tools cost ${formatNumber(tokens)} tokens, which is within the limit of ${formatNumber(maxTokens)}, so all tools are listed.`
    : `The tools cost ${formatNumber(tokens)} tokens, which is over the limit of ${formatNumber(maxTokens)}, so they are found by search.`

/** Finds the presentation that `auto` selected. Returns undefined if the server's presentation is not `auto`. */
export const findShownAsOf = async (
  { id, presentation }: Server,
  find: FindShownAs | undefined,
): Promise<ShownAs | undefined> => (presentation === 'auto' ? find?.(id) : undefined)

export const ShownAsView = z.object({
  presentation: z.enum(['flat', 'search']),
  tokens: z.int().describe('tokens of the tools if all are listed'),
  maxTokens: z.int(),
  why: z.string(),
})

export const toShownAsView = (shownAs: ShownAs): z.infer<typeof ShownAsView> => ({
  ...shownAs,
  why: explainShownAs(shownAs),
})
