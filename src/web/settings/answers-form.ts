import { z } from 'zod'
import { formatNumber } from '../../lib/http/pages/format.ts'
import { type FormPage, formText } from '../../lib/http/pages/forms.ts'
import { CACHE_ID_PLACEHOLDER, contextShape } from '../../servers/context-rules.ts'
import type { Server } from '../../servers/server.ts'
import { DEFAULT_RESPONSE_TOKENS, typedResponseTokens } from '../../tools/response/response-tokens.ts'

/** The form that says how much of an answer is sent, as it is typed. */
export const AnswersForm = { maxResponseTokens: formText, cutNotice: formText }
export type TypedAnswers = { maxResponseTokens: string; cutNotice: string }

export const AnswersInput = z.object({
  maxResponseTokens: typedResponseTokens.pipe(contextShape.maxResponseTokens),
  cutNotice: contextShape.cutNotice,
})

const LABELS = { maxResponseTokens: 'number of tokens', cutNotice: 'truncation notice' }

export const toAnswersForm = (
  { maxResponseTokens, cutNotice }: Pick<Server, 'maxResponseTokens' | 'cutNotice'>,
  typed?: TypedAnswers,
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

/** The page with what was typed into this form, and why it is refused beside its own fields. */
export const withTypedAnswers = (page: FormPage, answers: ReturnType<typeof toAnswersForm>): FormPage => ({
  ...page,
  data: { ...page.data, answers },
  labels: LABELS,
})
