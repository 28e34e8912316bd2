import { z } from 'zod'
import { formText } from '../../lib/http/pages/forms.ts'
import { formatNumber } from '../../lib/kernel/format.ts'
import { CACHE_ID_PLACEHOLDER, contextShape } from '../../servers/context-rules.ts'
import type { Server } from '../../servers/server.ts'
import { DEFAULT_RESPONSE_TOKENS, typedResponseTokens } from '../../tools/response/response-tokens.ts'

/** Fields of the form that limits the size of results. */
export const LimitsForm = { maxResponseTokens: formText, cutNotice: formText }
export type TypedLimits = { maxResponseTokens: string; cutNotice: string }

export const LimitsInput = z.object({
  maxResponseTokens: typedResponseTokens.pipe(contextShape.maxResponseTokens),
  cutNotice: contextShape.cutNotice,
})

export const LIMITS_LABELS = { maxResponseTokens: 'number of tokens', cutNotice: 'truncation notice' }

export const toLimitsForm = (
  { maxResponseTokens, cutNotice }: Pick<Server, 'maxResponseTokens' | 'cutNotice'>,
  typed?: TypedLimits,
) => ({
  maxResponseTokens: typed?.maxResponseTokens ?? String(maxResponseTokens),
  cutNotice: typed?.cutNotice ?? cutNotice ?? '',
  place: CACHE_ID_PLACEHOLDER,
  usual: formatNumber(DEFAULT_RESPONSE_TOKENS),
  now:
    maxResponseTokens === 0
      ? 'Results are sent in full.'
      : `At most ${formatNumber(maxResponseTokens)} tokens of a result are sent.`,
})
