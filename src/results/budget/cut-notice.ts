import { formatBytes, formatNumber } from '../../lib/http/pages/format.ts'
import { CACHE_ID_PLACEHOLDER } from '../../servers/context-rules.ts'
import { CUT_RESULT_TTL_MS } from '../cut-cache/cut-cache.ts'

/** Room in a budget for the line below the beginning of an answer. */
export const NOTICE_TOKENS = 90
/** Rather fewer than a token of any language has, but for rare signs: so that the builder's words need no counting. */
const BYTES_PER_TOKEN = 2.5
/** What an id is taken for: its letters are chance, and make many tokens. */
const ID_LIKE = 'x'.repeat(50)

/** The same where the line is in the builder's own words. */
export const noticeTokensOf = (own = ''): number =>
  Math.max(NOTICE_TOKENS, Math.ceil(Buffer.byteLength(own.replaceAll(CACHE_ID_PLACEHOLDER, ID_LIKE)) / BYTES_PER_TOKEN))

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

const WAYS = 'proxy_filter, proxy_search or proxy_explore'

const KEPT_MINUTES = CUT_RESULT_TTL_MS / 60_000

const tellSizes = ({ tokens, tokensShown, bytes }: CutAnswer): string =>
  tokens === undefined || tokensShown === undefined
    ? `Cut: this is the beginning of ${formatBytes(bytes)}.`
    : `Cut: this shows ${formatNumber(tokensShown)} of ${formatNumber(tokens)} tokens.`

/** One line that says how to go on, in the builder's words where there are any; `group`: that the tools are in. */
export const renderNotice = (answer: CutAnswer, group: string | undefined, own: string | undefined): string => {
  const { cacheId } = answer
  const ways = group === undefined ? WAYS : `${WAYS} of the group "${group}"`
  if (cacheId === undefined) {
    return `${tellSizes(answer)} The rest could not be kept: call ${ways} with this tool and its arguments.`
  }
  return (
    own?.replaceAll(CACHE_ID_PLACEHOLDER, cacheId) ??
    `${tellSizes(answer)} For the rest call ${ways} with cache_id "${cacheId}" (kept ${KEPT_MINUTES} minutes from its last use).`
  )
}
