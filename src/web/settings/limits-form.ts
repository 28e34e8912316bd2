import { z } from 'zod'
import { formatNumber } from '../../lib/kernel/format.ts'
import {
  CACHE_ID_PLACEHOLDER,
  CUT_RESULT_TOOLS,
  type CutResultTools,
  contextShape,
} from '../../servers/context-rules.ts'
import type { Server } from '../../servers/server.ts'
import { type CutResultListing, explainListing } from '../../servers/settings/cut-result-listing.ts'
import { DEFAULT_RESPONSE_TOKENS, typedResponseTokens } from '../../tools/response/response-tokens.ts'

/** The limits of results, as typed. */
type TypedLimits = { maxResponseTokens: string; cutNotice: string; cutResultTools: string }

const CHOICES = [
  { value: 'auto', text: 'Automatic' },
  { value: 'always', text: 'Always' },
  { value: 'never', text: 'Never' },
] as const satisfies readonly { value: CutResultTools; text: string }[]

export const LimitsInput = z.object({
  maxResponseTokens: typedResponseTokens.pipe(contextShape.maxResponseTokens),
  cutNotice: contextShape.cutNotice,
  cutResultTools: z
    .string()
    .transform(text => (text === '' ? undefined : text))
    .pipe(z.enum(CUT_RESULT_TOOLS, 'must be an option from the list').optional()),
})

export const LIMITS_LABELS = {
  maxResponseTokens: 'number of tokens',
  cutNotice: 'truncation notice',
  cutResultTools: 'listing of the tools for cut results',
}

export const toLimitsForm = (
  { maxResponseTokens, cutNotice, cutResultTools }: TypedLimits,
  saved: Pick<Server, 'maxResponseTokens'>,
  listing: CutResultListing | undefined,
) => ({
  maxResponseTokens,
  cutNotice,
  cutResultTools,
  choices: CHOICES,
  listing: listing && explainListing(listing),
  place: CACHE_ID_PLACEHOLDER,
  usual: formatNumber(DEFAULT_RESPONSE_TOKENS),
  now:
    saved.maxResponseTokens === 0
      ? 'Results are sent in full.'
      : `At most ${formatNumber(saved.maxResponseTokens)} tokens of a result are sent.`,
})
