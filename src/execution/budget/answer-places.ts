import type { CompiledTool, UnlistedTools } from '../compiled-server.ts'
import type { ToolGroup } from '../tool-group.ts'
import type { BudgetedServer } from './answer-budget.ts'
import { type AnswerToolParts, compileAnswerTools } from './answer-tools.ts'
import { findByName, findInGroups } from './find-answering.ts'

export type AnswerPlaceParts = Pick<AnswerToolParts, 'answers' | 'onInternalError' | 'reading'>

/** What the group of the three tools is called where a server groups; another of that name comes first. */
const GROUP = 'answers'
const GROUP_DESCRIPTION =
  'Goes on from answers that were cut, or takes less of an answer at once: by fields, by search, by outline.'

const isCut = ({ callWhole }: CompiledTool): boolean => callWhole !== undefined

const canLink = (tools: readonly CompiledTool[], unlisted: UnlistedTools | undefined): boolean =>
  unlisted !== undefined || tools.some(({ isLinked }) => isLinked === true)

/** The tools that go on from cut answers, beside those whose answers are cut; none where none is. */
export const addAnswerTools = (
  server: BudgetedServer,
  tools: readonly CompiledTool[],
  unlisted: UnlistedTools | undefined,
  parts: AnswerPlaceParts,
): CompiledTool[] => {
  if (!tools.some(isCut) && (unlisted === undefined || server.maxResponseTokens === 0)) return []
  const findTool = findByName(tools, unlisted)
  return compileAnswerTools({ ...parts, server, hasGroups: false, findTool, isLinked: canLink(tools, unlisted) })
}

/** The same as a group of their own, where a server groups. */
export const groupAnswerTools = (
  server: BudgetedServer,
  groups: readonly ToolGroup[],
  parts: AnswerPlaceParts,
): ToolGroup[] => {
  const shown = groups.filter(({ off }) => off === undefined)
  const isWanted = shown.some(({ tools, unlisted }) => unlisted !== undefined || tools?.some(isCut) === true)
  if (!isWanted || server.maxResponseTokens === 0) return []
  const isLinked = shown.some(({ tools = [], unlisted }) => canLink(tools, unlisted))
  const tools = compileAnswerTools({ ...parts, server, hasGroups: true, findTool: findInGroups(shown), isLinked })
  const name = groups.some(group => group.name === GROUP) ? `${GROUP} of this server` : GROUP
  return [{ name, description: GROUP_DESCRIPTION, outage: undefined, tools }]
}
