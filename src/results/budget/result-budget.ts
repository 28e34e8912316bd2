import { cutUnparsed } from '../../lib/json/cut-to-budget.ts'
import { isJsonObject, type JsonObject } from '../../lib/kernel/json.ts'
import { TOKEN_ENCODING } from '../../lib/tokens/tokens.ts'
import { withShortened } from '../../runtime/call/call-cost.ts'
import type { CallContext, CompiledTool, ToolOutcome } from '../../runtime/call/compiled-tool.ts'
import { isPassed, isRefused, type PassedResult, type ToolResult } from '../../runtime/call/tool-result.ts'
import type { Caller } from '../../servers/access/access.ts'
import type { Server } from '../../servers/server.ts'
import { cutResultHolderOf } from '../cut-cache/cache-key.ts'
import { CUT_RESULT_TTL_MS, type CutCache } from '../cut-cache/cut-cache.ts'
import { type CutResultSummary, noticeTokensOf, renderNotice } from './cut-notice.ts'
import type { ExactCounts } from './exact-counts.ts'
import type { InspectionView } from './inspection-job.ts'
import type { ResultInspector } from './result-inspector.ts'
import { isWithinBytes, listTexts, takeApart, toTextType, UTF8_TEXT } from './result-parts.ts'

/** The member of `_meta` that describes a result that was cut or inspected. */
const ANSWER_META = 'patchbay/answer'

export type BudgetParts = {
  inspector: Pick<ResultInspector, 'inspect'>
  cutCache: Pick<CutCache, 'put'>
  exactCounts: Pick<ExactCounts, 'count'>
  /** Called if a result could not be cut and is sent whole. */
  onInternalError: (error: unknown) => void
}

export type BudgetedServer = Pick<Server, 'id' | 'organizationId' | 'maxResponseTokens' | 'cutNotice'>

/**
 * Returns a key that identifies who may read a cached result: callers with the same token or grant
 * or, after an anonymous call, anyone who knows the id.
 */
export const holderOf = (caller: Caller): string =>
  cutResultHolderOf(caller && { userId: caller.userId, via: caller.grantId ?? caller.tokenId })

export const toCutResultMeta = ({
  cacheId,
  tokens,
  isEstimated,
  tokensShown,
  bytes,
}: CutResultSummary): JsonObject => ({
  [ANSWER_META]: {
    ...(cacheId !== undefined && { cacheId, expiresAt: new Date(Date.now() + CUT_RESULT_TTL_MS).toISOString() }),
    ...(tokens !== undefined && { tokens }),
    ...(isEstimated && { tokensEstimated: true }),
    ...(tokensShown !== undefined && { tokensShown }),
    ...(tokens !== undefined && { encoding: TOKEN_ENCODING }),
    bytes,
  },
})

/** Minimum number of tokens for the text of a result, even if the notice is long. */
const MIN_BEGINNING_TOKENS = 50

/** Maximum bytes shown of a result that could not be inspected, because they are read on the main thread. */
const MAX_UNSEEN_BYTES = 32 * 1_024

/**
 * Returns the beginning of a result that could not be inspected, and an outline if it is JSON. The beginning fits the
 * budget, because a token has at least one byte.
 */
const beginUnseen = (utf8: Buffer, maxTokens: number): { text: string; outline: string } => {
  const room = Math.min(maxTokens, MAX_UNSEEN_BYTES)
  const text = utf8.toString('utf8', 0, room).replace(/\ufffd$/, '')
  return cutUnparsed(text, text.length, utf8.length) ?? { text, outline: '' }
}

/** Returns the lines to show below the text of a view. */
export const tellOf = ({ outline, notes, errors }: Pick<InspectionView, 'outline' | 'notes' | 'errors'>): string[] =>
  [outline, ...notes, ...errors.map(({ message }) => message)].filter(line => line !== '')

const showUnseen = ({ text, outline }: { text: string; outline: string }, error: string) => ({
  text,
  lines: [outline, error].filter(line => line !== ''),
})

/**
 * Returns whether all of a result fits the budget. An estimate does not decide that, because it can be far too low: a
 * result whose tokens are estimated fits if all of it is in the view, whose tokens were counted.
 */
const isWithinTokens = (view: InspectionView | undefined, utf8: Buffer, budget: number): boolean => {
  if (view === undefined) return false
  if (!view.isBeforeEstimated) return view.tokensBefore <= budget
  return !view.isCut && utf8.equals(Buffer.from(view.text))
}

/** Returns a text block for each text that is not empty. */
export const toTextBlocks = (texts: readonly string[]): JsonObject[] =>
  texts.filter(text => text !== '').map(text => ({ type: 'text', text }))

/** Returns whether the upstream asks for input. If so, the client must call again, and there is no result yet. */
const isUnfinished = (result: ToolResult | PassedResult): boolean =>
  isPassed(result) && result.passed.resultType === 'input_required'

type Called = ToolOutcome<ToolResult | PassedResult> & { tool: string; budget: number; context: CallContext }

/**
 * Creates the function that limits a tool's results to the tool's budget, or else the server's, and caches whole
 * results for later calls. A tool with an output schema is limited only by its own budget, if it has one. A limited
 * tool is listed without its output schema, because a cut result would not match it. `cutResultGroup` names the group
 * that contains the tools for reading whole results, on a server that groups its tools.
 */
export const createResultLimit = (
  server: BudgetedServer,
  cutResultGroup: string | undefined,
  { inspector, cutCache, exactCounts, onInternalError }: BudgetParts,
) => {
  const cut = async (called: Called): Promise<ToolOutcome> => {
    const { result, cost, contentType, nextPage, tool, budget, context } = called
    const { utf8, others, rest } = takeApart(result)
    const room = Math.max(budget - noticeTokensOf(cutResultGroup, server.cutNotice), MIN_BEGINNING_TOKENS)
    const mediaType = rest.isError === true ? UTF8_TEXT : toTextType(contentType)
    const seen = await inspector.inspect({
      owner: server.id,
      group: server.organizationId,
      bytes: utf8,
      mediaType,
      budgetTokens: room,
    })
    const view = seen.ok ? seen.value : undefined
    if (isWithinTokens(view, utf8, budget)) return { result, cost, nextPage }
    const tokens = view?.tokensBefore
    const isEstimated = view?.isBeforeEstimated ?? false
    // Only whitespace exceeded the budget, so there is nothing more to read.
    const isAll = view !== undefined && !view.isCut && view.notes.length === 0
    const holder = holderOf(context.caller)
    const about = { tool, mediaType, ...(tokens !== undefined && { tokens, isEstimated }) }
    const stored = { serverId: server.id, holder, about }
    const cacheId = isAll ? undefined : await cutCache.put({ ...stored, content: utf8 })
    const summary = { cacheId, tokens, isEstimated, tokensShown: view?.tokensShown, bytes: utf8.length }
    const { text, lines } = seen.ok
      ? { text: seen.value.text, lines: tellOf(seen.value) }
      : showUnseen(beginUnseen(utf8, room), seen.error)
    const notice = isAll ? '' : renderNotice(summary, cutResultGroup, server.cutNotice)
    const besides = [...listTexts(others), ...(nextPage === undefined ? [] : [nextPage])]
    const shortened = withShortened(cost, {
      whole: tokens === undefined ? null : { tokens, texts: besides, isEstimated },
      exactTokens:
        isEstimated && cacheId !== undefined
          ? exactCounts.count({ ...stored, organizationId: server.organizationId, cacheId, bytes: utf8.length })
          : undefined,
      sent: view && { tokens: view.tokensShown, texts: [notice, ...besides] },
    })
    const _meta = { ...(isJsonObject(rest._meta) ? rest._meta : {}), ...toCutResultMeta(summary) }
    // The notice comes first, because clients may shorten a long result further.
    const content = [...toTextBlocks([notice, text, isAll ? '' : lines.join('\n')]), ...others]
    return { result: { passed: { ...rest, content, _meta } }, cost: shortened, nextPage }
  }

  const limitCall =
    (tool: CompiledTool, budget: number): CompiledTool['call'] =>
    async (args, context): Promise<ToolOutcome> => {
      const outcome = await tool.call(args, context)
      const { result } = outcome
      if (isRefused(result) || isWithinBytes(result, budget) || isUnfinished(result)) return outcome
      try {
        return await cut({ ...outcome, result, tool: tool.name, budget, context })
      } catch (error) {
        if (!context.signal.aborted) onInternalError(error)
        return outcome
      }
    }

  return (tool: CompiledTool, own: number | undefined): CompiledTool => {
    const budget = own ?? (tool.outputSchema === undefined ? server.maxResponseTokens : 0)
    if (budget === 0) return tool
    return { ...tool, outputSchema: undefined, call: limitCall(tool, budget), callWhole: tool.call }
  }
}

export type ResultLimit = ReturnType<typeof createResultLimit>
