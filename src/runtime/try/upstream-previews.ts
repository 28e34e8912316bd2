import type { AnswerShaping } from '../context/index.ts'
import type { Actor, JsonObject, JsonValue } from '../kernel/index.ts'
import type { Database } from '../platform/db/index.ts'
import type { Sealing } from '../platform/sealing.ts'
import { getServerFor, listGlobals } from '../servers/index.ts'
import { type PresentedTool, presentedName, type Upstream, type UpstreamConnections } from '../upstreams/index.ts'
import { readTexts } from './budget/answer-parts.ts'
import { openGlobals } from './compile-server.ts'
import { compileUpstreamTool, type UpstreamToolParts } from './compile-upstream-tools.ts'
import { isPassed, isRefused, type PassedResult, type ToolResult } from './compiled-server.ts'
import { previewShaping, type ShapingPlace, type ShapingPreview } from './shape-by-rules.ts'
import { checkOfDeclared } from './shape-passed.ts'

type UpstreamPreviewParts = Omit<UpstreamToolParts, 'limit' | 'place' | 'connections'> & {
  db: Database
  sealing: Sealing
  shaper: ShapingPlace['shaper']
  connections: Pick<UpstreamConnections, 'findFor' | 'sync'>
}

/** An answer that a builder brings, and what is to be done with it. */
export type AnswerToShape = {
  serverId: string
  text: string
  response: AnswerShaping | undefined
  /** That clients are shown; undefined where they are shown none. */
  outputSchema: JsonObject | undefined
}

const parseValue = (text: string): JsonValue | undefined => {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}

/** Why clients would get an error in place of what was made; undefined where they would not. */
const explainMismatch = (made: string, outputSchema: JsonObject): string | undefined => {
  const value = parseValue(made)
  const mismatch = value === undefined ? 'it is no JSON' : checkOfDeclared(outputSchema)(value)
  return (
    mismatch &&
    `What is made of it does not fit the tool's output schema: ${mismatch}. Make it fit, or give the tool a number of tokens of its own: then clients are shown it without the schema.`
  )
}

/** A tool that a builder calls to look at its answer. */
export type ToolToLookAt = { upstream: Upstream; item: PresentedTool['item']; args: JsonObject; signal: AbortSignal }

/** The text that is shaped of an answer; of several the longest, as each is shaped by itself. */
const textToShape = (result: ToolResult | PassedResult): string => {
  const structured = isPassed(result) ? result.passed.structuredContent : undefined
  if (structured !== undefined) return JSON.stringify(structured)
  const [longest = ''] = readTexts(result).sort((a, b) => b.length - a.length)
  return longest
}

const isError = (result: ToolResult | PassedResult): boolean =>
  isPassed(result) ? result.passed.isError === true : 'isError' in result && result.isError === true

/** What is made of the answers of upstreams' tools, shown with one that is at hand. */
export const createUpstreamPreviews = ({ db, sealing, ...parts }: UpstreamPreviewParts) => ({
  /** The answer of a call as it is before it is shaped, or why there is none. It is recorded as every call. */
  callUpstreamTool: async (
    actor: Actor,
    { upstream, item, args, signal }: ToolToLookAt,
  ): Promise<{ text: string } | { failed: string }> => {
    const { serverId } = upstream
    await getServerFor(db, actor, serverId, 'build')
    await parts.connections.sync(serverId)
    const globals = openGlobals(await listGlobals(db, serverId), sealing)
    const plain = { ...upstream, toolAnswers: {}, responseTokens: {} }
    const presented = { upstream: plain, item, name: presentedName(upstream, item.name) }
    const place = { shaper: parts.shaper, owner: actor.userId, compactTables: false }
    const tool = compileUpstreamTool(presented, globals, { ...parts, place, limit: one => one })
    const caller = { userId: actor.userId, tokenId: '' }
    const result = await tool.call(args, { caller, client: 'patchbay-page', signal })
    if (isRefused(result)) return { failed: result.refused.message }
    const text = textToShape(result)
    return isError(result) ? { failed: text || 'It answered with an error that says nothing.' } : { text }
  },

  /** Undefined where there is nothing to show it with. */
  previewUpstreamAnswer: async (
    actor: Actor,
    { serverId, text, response, outputSchema }: AnswerToShape,
  ): Promise<ShapingPreview | undefined> => {
    const { compactTables } = await getServerFor(db, actor, serverId, 'build')
    if (text === '') return undefined
    const place = { shaper: parts.shaper, owner: actor.userId, compactTables }
    const preview = await previewShaping(
      { text, type: undefined },
      { response, outputSchema },
      place,
      parts.limits.maxResponseBytes,
    )
    const isChanged = preview.after !== undefined && preview.after !== preview.before
    const mismatch = outputSchema && isChanged ? explainMismatch(preview.after?.text ?? '', outputSchema) : undefined
    return mismatch === undefined ? preview : { ...preview, failure: mismatch }
  },
})
