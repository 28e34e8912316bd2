import type { Actor } from '../../lib/kernel/actor.ts'
import { type JsonObject, parseIfJson } from '../../lib/kernel/json.ts'
import { readTexts } from '../../results/budget/result-parts.ts'
import { previewShaping, type ShapingContext, type ShapingPreview } from '../../results/shape/shape-by-rules.ts'
import { getServerFor } from '../../servers/servers.service.ts'
import type { ResultShaping } from '../../tools/response/result-shaping.ts'
import type { PresentedTool } from '../../upstreams/catalogue/present-tools.ts'
import type { UpstreamConnections } from '../../upstreams/connection/upstream-connections.ts'
import type { Upstream } from '../../upstreams/upstream.ts'
import { isErrorResult, isPassed, isRefused, type PassedResult, type ToolResult } from '../call/tool-result.ts'
import { compileUpstreamTool, type UpstreamToolParts } from '../compile-upstream-tools.ts'
import { type GlobalParts, loadOpenedGlobals } from '../opened-globals.ts'
import { trimOfDeclared } from '../upstream-results.ts'

type UpstreamPreviewParts = Omit<UpstreamToolParts, 'limit' | 'shapingContext' | 'upstreamConnections'> &
  GlobalParts & {
    shaper: ShapingContext['shaper']
    schemaChecks: ShapingContext['schemaChecks']
    upstreamConnections: Pick<UpstreamConnections, 'findFor' | 'sync'>
  }

/** A sample result from the builder, and how to shape it. */
export type ResultToShape = {
  serverId: string
  text: string
  response: ResultShaping | undefined
  /** The output schema that clients see, if there is one. */
  outputSchema: JsonObject | undefined
}

const ADVICE = 'Change the shaping, or set a token limit for the tool, so that clients see it without the schema.'
const LEFT_OUT = 'Clients get the whole text, and structured content without what does not match.'

/** Returns how the shaped result differs from the schema that clients see. Returns undefined if it matches. */
const explainMismatch = async (
  made: string,
  outputSchema: JsonObject,
  shapingContext: ShapingContext,
): Promise<string | undefined> => {
  const mismatch = (why: string) =>
    `The shaped result does not match the tool's output schema: ${why}. ${LEFT_OUT} ${ADVICE}`
  const value = parseIfJson(made)
  if (value === undefined) return mismatch('it is not JSON')
  const checked = await trimOfDeclared(outputSchema, shapingContext)(value, undefined)
  switch (checked.kind) {
    case 'match':
      return undefined
    case 'trimmed':
      return mismatch(checked.mismatches.join('; '))
    case 'unchecked':
      return `The shaped result could not be checked against the tool's output schema: ${checked.message}. ${ADVICE}`
  }
}

/** A call of an upstream tool that gives the builder a sample result. */
export type PreviewedTool = { upstream: Upstream; item: PresentedTool['item']; args: JsonObject; signal: AbortSignal }

/** Returns the text to shape. Texts are shaped separately, so if there are several, returns the longest. */
const textToShape = (result: ToolResult | PassedResult): string => {
  const structured = isPassed(result) ? result.passed.structuredContent : undefined
  if (structured !== undefined) return JSON.stringify(structured)
  const [longest = ''] = readTexts(result).sort((a, b) => b.length - a.length)
  return longest
}

/** Creates the service that previews the shaping of upstream results on a sample. */
export const createUpstreamPreviews = (parts: UpstreamPreviewParts) => ({
  /** Calls the tool and returns its result before shaping, or an error message. The call is recorded. */
  callUpstreamTool: async (
    actor: Actor,
    { upstream, item, args, signal }: PreviewedTool,
  ): Promise<{ text: string } | { failed: string }> => {
    const { serverId } = upstream
    const server = await getServerFor(parts.db, actor, serverId, 'build')
    await parts.upstreamConnections.sync(serverId)
    const globals = await loadOpenedGlobals(parts, server)
    const plain = { ...upstream, toolAnswers: {}, responseTokens: {} }
    const shapingContext = {
      shaper: parts.shaper,
      schemaChecks: parts.schemaChecks,
      owner: actor.userId,
      group: server.organizationId,
      compactTables: false,
    }
    const tool = compileUpstreamTool(plain, item, globals, { ...parts, shapingContext, limit: one => one })
    const caller = { userId: actor.userId, tokenId: '' }
    const { result } = await tool.call(args, { caller, client: 'patchbay-page', signal })
    if (isRefused(result)) return { failed: result.refused.message }
    const text = textToShape(result)
    return isErrorResult(result) ? { failed: text || 'It returned an error without a message.' } : { text }
  },

  /** Shapes the sample. Returns undefined if there is nothing to preview. */
  previewUpstreamResult: async (
    actor: Actor,
    { serverId, text, response, outputSchema }: ResultToShape,
  ): Promise<ShapingPreview | undefined> => {
    const { organizationId, compactTables } = await getServerFor(parts.db, actor, serverId, 'build')
    if (text === '') return undefined
    const shapingContext = {
      shaper: parts.shaper,
      schemaChecks: parts.schemaChecks,
      owner: actor.userId,
      group: organizationId,
      compactTables,
    }
    const preview = await previewShaping(
      { text, type: undefined },
      { response, outputSchema },
      shapingContext,
      parts.limits.maxResponseBytes,
    )
    const isChanged = preview.after !== undefined && preview.after !== preview.before
    if (outputSchema === undefined || !isChanged) return preview
    const mismatch = await explainMismatch(preview.after?.text ?? '', outputSchema, shapingContext)
    return mismatch === undefined ? preview : { ...preview, failure: mismatch }
  },
})
