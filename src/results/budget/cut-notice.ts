import { formatBytes, formatNumber } from '../../lib/kernel/format.ts'
import { CACHE_ID_PLACEHOLDER } from '../../servers/context-rules.ts'
import { CUT_RESULT_TTL_MS } from '../cut-cache/cut-cache.ts'

/** Tokens reserved in a budget for the line with the sizes of a result that was read in part, and its ids. */
export const SIZES_TOKENS = 90
/** Tokens reserved in a budget for the notice above a cut result, and what a group and its name add to it. */
const NOTICE_TOKENS = 130
const GROUP_TOKENS = 50
/** A low estimate for any language, except for rare characters. It avoids counting the tokens of the builder's text. */
const BYTES_PER_TOKEN = 2.5
/** Stands for an id in the estimate. It is long because random letters take many tokens. */
const ID_LIKE = 'x'.repeat(50)

/** Returns the tokens to reserve for the notice; `own` is the builder's text, if there is one. */
export const noticeTokensOf = (group: string | undefined, own = ''): number =>
  Math.max(
    NOTICE_TOKENS + (group === undefined ? 0 : GROUP_TOKENS),
    Math.ceil(Buffer.byteLength(own.replaceAll(CACHE_ID_PLACEHOLDER, ID_LIKE)) / BYTES_PER_TOKEN),
  )

/** What the notice tells the model about a cut result. */
export type CutResultSummary = {
  /** Undefined if the result could not be cached. */
  cacheId: string | undefined
  /** Undefined if the tokens could not be counted. */
  tokens: number | undefined
  isEstimated: boolean
  tokensShown: number | undefined
  /** Size of the whole result. */
  bytes: number
}

const WAYS = 'proxy_filter, proxy_search or proxy_explore'

const KEPT_MINUTES = CUT_RESULT_TTL_MS / 60_000

/** Formats a number of tokens: `1,204`, or `about 31,000` if it is an estimate. */
export const formatTokens = (tokens: number, isEstimated: boolean): string =>
  isEstimated ? `about ${formatNumber(Number(tokens.toPrecision(3)))}` : formatNumber(tokens)

const tellSizes = ({ tokens, isEstimated, tokensShown, bytes }: CutResultSummary): string =>
  tokens === undefined || tokensShown === undefined
    ? `Cut: this is the beginning of ${formatBytes(bytes)}`
    : `Cut: this shows ${formatNumber(tokensShown)} of ${formatTokens(tokens, isEstimated)} tokens`

/** Returns an example of a call that reads more of the result. */
const exampleOf = (cacheId: string, group: string | undefined): string => {
  const args = { cache_id: cacheId, pattern: 'two words', mode: 'bm25', top_k: 3 }
  return group === undefined
    ? `proxy_search ${JSON.stringify(args)}`
    : `call_dynamic_tool ${JSON.stringify({ group, name: 'proxy_search', args })}`
}

/**
 * Returns a line that says how to read the rest of a result, in the builder's words if there are any. On a server that
 * groups its tools, `group` is the group with the tools for reading it.
 */
export const renderNotice = (summary: CutResultSummary, group: string | undefined, own: string | undefined): string => {
  const { cacheId } = summary
  const sizes = tellSizes(summary)
  const ways = group === undefined ? WAYS : `${WAYS} in the group "${group}"`
  if (cacheId === undefined) {
    return `${sizes}. The rest could not be stored: call ${ways} with this tool and its arguments.`
  }
  return (
    own?.replaceAll(CACHE_ID_PLACEHOLDER, cacheId) ??
    `${sizes}; the whole has cache_id "${cacheId}" for ${KEPT_MINUTES} minutes after its last use. Read it with ${ways}, for example ${exampleOf(cacheId, group)}.`
  )
}
