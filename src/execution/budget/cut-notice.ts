import { ANSWER_TTL_MS } from '../../context/index.ts'
import { formatBytes, formatNumber } from '../../platform/http/index.ts'
import { CACHE_ID_PLACE } from '../../servers/index.ts'

/** Room in a budget for the line below the beginning of an answer. */
export const NOTICE_TOKENS = 90

/** What a model is told of an answer that it has not got all of. */
export type CutAnswer = {
  /** Undefined where it could not be kept. */
  cacheId: string | undefined
  /** Undefined where they could not be counted. */
  tokens: number | undefined
  tokensShown: number | undefined
  /** Of the whole. */
  bytes: number
}

/** How a model reaches the tools that go on from a cut answer, by the presentation. */
export type AnswerTools = 'listed' | 'grouped'

const WAYS: Record<AnswerTools, string> = {
  listed: 'proxy_filter, proxy_search or proxy_explore',
  grouped: 'proxy_filter, proxy_search or proxy_explore of the group "answers"',
}

const KEPT_MINUTES = ANSWER_TTL_MS / 60_000

const tellSizes = ({ tokens, tokensShown, bytes }: CutAnswer): string =>
  tokens === undefined || tokensShown === undefined
    ? `Cut: this is the beginning of ${formatBytes(bytes)}.`
    : `Cut: this shows ${formatNumber(tokensShown)} of ${formatNumber(tokens)} tokens.`

/** One line that says how to go on, in the builder's words where there are any. */
export const renderNotice = (answer: CutAnswer, tools: AnswerTools, own: string | undefined): string => {
  const { cacheId } = answer
  if (cacheId === undefined) {
    return `${tellSizes(answer)} The rest could not be kept: call ${WAYS[tools]} with this tool and its arguments.`
  }
  return (
    own?.replaceAll(CACHE_ID_PLACE, cacheId) ??
    `${tellSizes(answer)} For the rest call ${WAYS[tools]} with cache_id "${cacheId}" (kept ${KEPT_MINUTES} minutes from its last use).`
  )
}
