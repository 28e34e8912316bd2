import { isJsonObject } from '../kernel/index.ts'
import type { SchemaCheck } from '../toolkits/index.ts'
import { findToolAnswers, isPerCaller, type PresentedTool, type ToolAnswers } from '../upstreams/index.ts'
import type { ExecutionParts, OpenedGlobals } from './compile-tool.ts'
import { type AnswerKeepings, stampOf, type UpstreamKeeping } from './kept/answer-keeping.ts'
import { type PlannedShaping, planShaping, type ShapingPlace } from './shape-by-rules.ts'
import { checkOfDeclared } from './shape-passed.ts'

export type UpstreamAnswerParts = Pick<ExecutionParts, 'limits'> & {
  keepings: Pick<AnswerKeepings, 'ofUpstreamTool'>
  /** Where answers are shaped, and how the server sends them. */
  place: ShapingPlace
}

/** What becomes of the answers of an upstream's tool, fixed before there are any. */
export type UpstreamAnswers = {
  /** What is done with them; undefined of most tools. */
  shaping: { planned: PlannedShaping; outputCheck: SchemaCheck | undefined } | undefined
  /** Undefined where none is kept for the next call. */
  keepingFor: UpstreamKeeping | undefined
  /** Tokens of one that are sent, in place of the server's. */
  responseTokens: number | undefined
  isReadOnly: boolean
}

/** By the upstream's word or the builder's: who asks for answers to be kept has looked at the tool. */
const mayKeep = ({ declared: { annotations } }: PresentedTool['item'], { readOnly }: ToolAnswers): boolean =>
  readOnly === true || (isJsonObject(annotations) && annotations.readOnlyHint === true)

/** How it keeps answers for the next call; undefined where it keeps none. */
const findKeeping = (
  { upstream, item }: PresentedTool,
  answers: ToolAnswers,
  globals: OpenedGlobals,
  { keepings, place: { compactTables } }: UpstreamAnswerParts,
): UpstreamAnswers['keepingFor'] => {
  const { cacheSeconds, cacheShared } = answers
  if (cacheSeconds === undefined || !mayKeep(item, answers)) return undefined
  const { id, serverId, config } = upstream
  const stamp = stampOf(id, config, item, answers, globals.version(), compactTables)
  // What comes by the account of one caller is for nobody else, whatever the builder says.
  return keepings.ofUpstreamTool({
    serverId,
    stamp,
    cacheSeconds,
    isShared: cacheShared === true && !isPerCaller(config),
  })
}

/** Held to the schema that clients are shown: one with a budget of its own is shown without. */
const findShaping = (
  { declared: { outputSchema } }: PresentedTool['item'],
  { response, responseTokens }: ReturnType<typeof findToolAnswers>,
  { place, limits }: UpstreamAnswerParts,
): UpstreamAnswers['shaping'] => {
  const isShown = responseTokens === undefined || responseTokens === 0
  const schema = isShown && isJsonObject(outputSchema) ? outputSchema : undefined
  const planned = planShaping({ response, outputSchema: schema }, place, limits.maxResponseBytes)
  return planned && { planned, outputCheck: schema && checkOfDeclared(schema) }
}

/** By what the builder has said of the tool, and the upstream of itself. */
export const planUpstreamAnswers = (
  presented: PresentedTool,
  globals: OpenedGlobals,
  parts: UpstreamAnswerParts,
): UpstreamAnswers => {
  const answers = findToolAnswers(presented.upstream, presented.item.name)
  return {
    shaping: findShaping(presented.item, answers, parts),
    keepingFor: findKeeping(presented, answers, globals, parts),
    responseTokens: answers.responseTokens,
    isReadOnly: answers.readOnly === true,
  }
}
