import { z } from 'zod'
import type { CallResult } from '../../history/call-result.ts'
import type { PipelineSteps } from '../../lib/json/pipeline.ts'
import { formatNumber } from '../../lib/kernel/format.ts'
import type { JsonObject, JsonValue } from '../../lib/kernel/json.ts'
import type { Result } from '../../lib/kernel/result.ts'
import { type CallCost, type Shortened, withShortened } from '../../runtime/call/call-cost.ts'
import { type CallContext, type CompiledTool, onlyReads } from '../../runtime/call/compiled-tool.ts'
import {
  errorResult,
  isPassed,
  isRefused,
  type ToolResult,
  truncateError,
  type UpstreamResult,
} from '../../runtime/call/tool-result.ts'
import { DEFAULT_RESPONSE_TOKENS } from '../../tools/response/response-tokens.ts'
import type { CutCache } from '../cut-cache/cut-cache.ts'
import { formatTokens, SIZES_TOKENS } from './cut-notice.ts'
import {
  type CutResultToolName,
  type InspectionRequest,
  type InspectionSource,
  inputSchemaFor,
  readInspectionRequest,
} from './cut-result-tool-params.ts'
import type { ExactCounts } from './exact-counts.ts'
import type { InspectionView } from './inspection-job.ts'
import { createInspectionRecords, type InspectionRecordParts } from './record-inspection.ts'
import { type BudgetedServer, holderOf, tellOf, toCutResultMeta, toTextBlocks } from './result-budget.ts'
import type { ResultInspector } from './result-inspector.ts'
import { isWithinBytes, takeApart, toTextType, UTF8_TEXT } from './result-parts.ts'

/** A tool that can be called to read its result. */
export type ReadableTool = Pick<CompiledTool, 'call' | 'callWhole' | 'isReadOnly' | 'isReadOnlyCall'>

export type CutResultToolParts = Omit<InspectionRecordParts, 'serverId'> & {
  server: BudgetedServer
  /** Whether tools are identified by their group and name. */
  hasGroups: boolean
  /** Finds a tool. The error lists the tools that exist. */
  findTool: (group: string | undefined, name: string, context?: CallContext) => Result<ReadableTool, string>
  /** Whether one of the tools may send messages to the client while it runs. */
  isLinked: boolean
  inspector: Pick<ResultInspector, 'inspect'>
  cutCache: Pick<CutCache, 'open' | 'put'>
  exactCounts: Pick<ExactCounts, 'count'>
  onInternalError: (error: unknown) => void
}

const DESCRIPTIONS: Record<CutResultToolName, string> = {
  proxy_filter: 'Returns only some fields or items of a large result.',
  proxy_search: 'Searches a large result. Returns matches, or the records around them.',
  proxy_explore:
    'Outlines a large result: its fields, how many values differ, the most frequent ones, the records with the extremes.',
}

/** The same error for unknown ids, expired ids and other callers' ids, so that it reveals nothing. */
const NOT_KEPT =
  'You have no result with this cache_id. It may have expired. Call the tool again, or give tool and arguments here.'
const NOT_READ = 'Patchbay failed to read this result. The reason is in the server log.'

/** Metadata cached with a result: its token count, so that it need not be counted again, and its media type. */
const About = z.looseObject({
  tokens: z.int().nonnegative().optional(),
  isEstimated: z.boolean().optional(),
  mediaType: z.string().optional(),
})

type WholeResult = {
  /** The content, or a function that is called only if no worker has the parsed result cached. */
  utf8: Uint8Array | (() => Promise<Uint8Array>)
  cacheId: string | undefined
  /** Whether the client does not know the cache id yet. */
  isNew: boolean
  /** What is already known about the result. */
  about: z.infer<typeof About>
}
/** `cost` is the cost of the call, if a tool was called. */
type Called = { cost?: CallCost | undefined }

/** `isError` means that the result is a long error message. Its beginning is shown, and the steps are not run. */
type Fetched = Called & ({ whole: WholeResult; isError?: boolean } | Inspected)

/**
 * The part of a result that is shown. `shortened` is undefined if nothing is shown. `refusedAs` is how the call ended, if
 * an error of Patchbay is shown.
 */
type Inspected = { shown: ToolResult | UpstreamResult; shortened?: Shortened; refusedAs?: CallResult }

const refuse = (why: string, refusedAs: CallResult): Inspected => ({
  shown: errorResult(truncateError(why)),
  refusedAs,
})

/** Returns a sentence such as `12 of about 31,000 tokens.` */
const renderSizes = (view: InspectionView): string => {
  const before = formatTokens(view.tokensBefore, view.isBeforeEstimated)
  const after = formatTokens(view.tokensAfter, view.isAfterEstimated)
  return view.isCut
    ? `Cut: this shows ${formatNumber(view.tokensShown)} of ${after} tokens found, of ${before} in all.`
    : `${after} of ${before} tokens.`
}

/** Compiles `proxy_filter`, `proxy_search` and `proxy_explore`, which read results that were too large to send. */
export const compileCutResultTools = (parts: CutResultToolParts): CompiledTool[] => {
  const { server, hasGroups, findTool, isLinked, inspector, cutCache, exactCounts, onInternalError } = parts
  const beginRecord = createInspectionRecords({ ...parts, serverId: server.id })
  // A server without a budget has these tools if one of its tools has a budget of its own.
  const maxTokens = server.maxResponseTokens === 0 ? DEFAULT_RESPONSE_TOKENS : server.maxResponseTokens

  const keep = (context: CallContext, content: Uint8Array, about: JsonObject): Promise<string | undefined> =>
    cutCache.put({ serverId: server.id, holder: holderOf(context.caller), content, about })

  const fetchKept = async (cacheId: string, { caller }: CallContext): Promise<Fetched> => {
    const found = await cutCache.open(server.id, holderOf(caller), cacheId)
    if (found === undefined) return refuse(NOT_KEPT, 'rejected')
    return { whole: { utf8: found.read, cacheId, isNew: false, about: About.safeParse(found.about).data ?? {} } }
  }

  const fetchFresh = async (
    source: Extract<InspectionSource, { kind: 'call' }>,
    context: CallContext,
  ): Promise<Fetched> => {
    const tool = findTool(source.group, source.tool, context)
    if (!tool.ok) return refuse(tool.error, 'invalid_arguments')
    const { call, callWhole = call } = tool.value
    const { result, cost, contentType } = await callWhole(source.args, context)
    if (isRefused(result)) return { shown: result, cost }
    const { utf8, rest } = takeApart(result)
    const isError = rest.isError === true
    if (rest.resultType === 'input_required' || (isError && isWithinBytes(result, maxTokens)))
      return { shown: result, cost }
    const mediaType = isError ? UTF8_TEXT : toTextType(contentType)
    const cacheId = await keep(context, utf8, { tool: source.tool, mediaType })
    return { whole: { utf8, cacheId, isNew: true, about: { mediaType } }, isError, cost }
  }

  /** Stores the uncut output of the steps, and returns its cache id. */
  const keepFound = async ({ whole, ...view }: InspectionView, context: CallContext): Promise<string | undefined> => {
    if (!view.isCut || whole === undefined) return undefined
    const mediaType = `${whole.mediaType}; charset=utf-8`
    return keep(context, whole.utf8, { tokens: view.tokensAfter, isEstimated: view.isAfterEstimated, mediaType })
  }

  const measureWhole = (view: InspectionView, { cacheId, isNew, about }: WholeResult, { caller }: CallContext) => {
    const { tokensBefore: tokens, isBeforeEstimated: isEstimated } = view
    const whole = { tokens, texts: [], isEstimated }
    if (!isEstimated || !isNew || cacheId === undefined) return { whole }
    const { id: serverId, organizationId } = server
    const { mediaType = UTF8_TEXT } = about
    const stored = { serverId, organizationId, holder: holderOf(caller), cacheId, bytes: view.bytes }
    return { whole, exactTokens: exactCounts.count({ ...stored, about: { mediaType } }) }
  }

  /** Renders the view with the cache id of the whole result and, if the view is cut, the cache id of its uncut text. */
  const render = async (view: InspectionView, source: WholeResult, context: CallContext): Promise<Inspected> => {
    const { text, whole, isCut, tokensShown, bytes } = view
    const found = await keepFound(view, context)
    const notice = [
      renderSizes(view),
      ...(found === undefined ? [] : [`All that was found: cache_id "${found}".`]),
      ...(source.cacheId === undefined || !source.isNew ? [] : [`The whole result: cache_id "${source.cacheId}".`]),
    ].join(' ')
    const told = tellOf(view).join('\n')
    // A notice of more to read comes first, because clients may shorten a long result further.
    const texts = isCut ? [notice, text, told] : [text, [told, notice].filter(line => line !== '').join('\n')]
    const before = { tokens: view.tokensBefore, isEstimated: view.isBeforeEstimated }
    const after = { tokens: view.tokensAfter, isEstimated: view.isAfterEstimated }
    const meta =
      found === undefined || whole === undefined
        ? { cacheId: source.cacheId, ...before, tokensShown, bytes }
        : { cacheId: found, ...after, tokensShown, bytes: whole.utf8.length }
    return {
      shown: { passed: { content: toTextBlocks(texts), _meta: toCutResultMeta(meta) } },
      shortened: { ...measureWhole(view, source, context), sent: { tokens: tokensShown, texts: [notice] } },
    }
  }

  const inspect = async (steps: PipelineSteps, source: WholeResult, context: CallContext): Promise<Inspected> => {
    const { utf8: bytes, cacheId: key, about } = source
    try {
      const seen = await inspector.inspect({
        owner: server.id,
        group: server.organizationId,
        bytes,
        mediaType: about.mediaType ?? UTF8_TEXT,
        key,
        steps,
        budgetTokens: maxTokens - SIZES_TOKENS,
        tokensBefore: about.tokens,
        isBeforeEstimated: about.isEstimated ?? false,
        keepsWhole: true,
      })
      if (!seen.ok) return refuse(seen.error, 'failed')
      const [fault] = seen.value.errors
      if (fault !== undefined && seen.value.text === '') return refuse(fault.message, 'invalid_arguments')
      return await render(seen.value, source, context)
    } catch (error) {
      onInternalError(error)
      return refuse(NOT_READ, 'failed')
    }
  }

  const grant = async (
    request: Result<InspectionRequest, string>,
    context: CallContext,
  ): Promise<Inspected & Called> => {
    if (!request.ok) return refuse(request.error, 'invalid_arguments')
    const { source, steps } = request.value
    const fetched = await (source.kind === 'kept' ? fetchKept(source.cacheId, context) : fetchFresh(source, context))
    if ('shown' in fetched) return fetched
    const { whole, isError = false, cost } = fetched
    const inspected = await inspect(isError ? {} : steps, whole, context)
    const { shown } = inspected
    if (!isError || isRefused(shown) || !isPassed(shown)) return { ...inspected, cost }
    return { ...inspected, cost, shown: { passed: { ...shown.passed, isError } } }
  }

  const compileOne = (name: CutResultToolName): CompiledTool => {
    const read = (given: JsonValue | undefined): Result<InspectionRequest, string> =>
      readInspectionRequest(name, hasGroups, given)
    const isReadOnlyCall = (given: JsonValue | undefined): boolean => {
      const request = read(given)
      if (!request.ok || request.value.source.kind === 'kept') return true
      const { group, tool, args } = request.value.source
      const found = findTool(group, tool)
      return found.ok && onlyReads(found.value, args)
    }
    const named = { serverId: server.id, name }
    return {
      name,
      title: undefined,
      description: DESCRIPTIONS[name],
      inputSchema: inputSchemaFor(name, hasGroups),
      outputSchema: undefined,
      // The tool can call any other tool, so clients should ask for confirmation as they do for the called tool.
      annotations: undefined,
      isReadOnly: false,
      isReadOnlyCall,
      isLinked,
      call: async (given, context) => {
        const record = beginRecord(name, given, context)
        const { shown, shortened, refusedAs = 'success', cost: called } = await grant(read(given), context)
        // A call to another tool already has its own record.
        const cost = called ?? { executionId: record(shown, refusedAs), tool: named, isCutBefore: true }
        return { result: shown, cost: shortened === undefined ? cost : withShortened(cost, shortened) }
      },
    }
  }
  return [compileOne('proxy_explore'), compileOne('proxy_filter'), compileOne('proxy_search')]
}
