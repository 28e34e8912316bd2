import { formatBytes, formatNumber } from '../../lib/kernel/format.ts'
import { CACHE_ID_PLACEHOLDER } from '../../servers/context-rules.ts'
import { CUT_RESULT_TTL_MS } from '../cut-cache/cut-cache.ts'

/** Tokens reserved in a budget for the notice below a cut result. */
export const NOTICE_TOKENS = 90
/** A low estimate for any language, except for rare characters. It avoids counting the tokens of the builder's text. */
const BYTES_PER_TOKEN = 2.5
/** Stands for an id in the estimate. It is long because random letters take many tokens. */
const ID_LIKE = 'x'.repeat(50)

/** Returns the tokens to reserve for the notice; `own` is the builder's text, if there is one. */
export const noticeTokensOf = (own = ''): number =>
  Math.max(NOTICE_TOKENS, Math.ceil(Buffer.byteLength(own.replaceAll(CACHE_ID_PLACEHOLDER, ID_LIKE)) / BYTES_PER_TOKEN))

/** What the notice tells the model about a cut result. */
export type CutResultSummary = {
  /** Undefined if the result could not be cached. */
  cacheId: string | undefined
  /** Undefined if the tokens could not be counted. */
  tokens: number | undefined
  tokensShown: number | undefined
  /** Size of the whole result. */
  bytes: number
}

const WAYS = 'proxy_filter, proxy_search or proxy_explore'

const KEPT_MINUTES = CUT_RESULT_TTL_MS / 60_000

const tellSizes = ({ tokens, tokensShown, bytes }: CutResultSummary): string =>
  tokens === undefined || tokensShown === undefined
    ? `Cut: this is the beginning of ${formatBytes(bytes)}.`
    : `Cut: this shows ${formatNumber(tokensShown)} of ${formatNumber(tokens)} tokens.`

/**
 * Returns a line that says how to read the rest of a result, in the builder's words if there are any. On a server that
 * groups its tools, `group` is the group with the tools for reading it.
 */
export const renderNotice = (summary: CutResultSummary, group: string | undefined, own: string | undefined): string => {
  const { cacheId } = summary
  const ways = group === undefined ? WAYS : `${WAYS} in the group "${group}"`
  if (cacheId === undefined) {
    return `${tellSizes(summary)} The rest could not be stored: call ${ways} with this tool and its arguments.`
  }
  return (
    own?.replaceAll(CACHE_ID_PLACEHOLDER, cacheId) ??
    `${tellSizes(summary)} For the rest, call ${ways} with cache_id "${cacheId}" (available for ${KEPT_MINUTES} minutes after its last use).`
  )
}
