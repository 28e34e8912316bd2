import type { CompiledTool, UnlistedTools } from '../../runtime/call/compiled-server.ts'
import type { ToolGroup } from '../../runtime/call/tool-group.ts'
import { type AnswerToolParts, compileAnswerTools } from './cut-result-tools.ts'
import { findByName, findInGroups } from './find-tool.ts'
import type { BudgetedServer } from './result-budget.ts'

export type AnswerPlaceParts = Pick<AnswerToolParts, 'cutCache' | 'onInternalError' | 'reading' | 'recorder'>
type Parts = AnswerPlaceParts & Pick<AnswerToolParts, 'masker'>

/** What the group of the three tools is called where a server groups. */
const GROUP = 'answers'
/** Another of that name comes first. */
export const nameAnswersGroup = (others: readonly string[]): string =>
  others.includes(GROUP) ? `${GROUP} of this server` : GROUP

const GROUP_DESCRIPTION =
  'Goes on from answers that were cut, or takes less of an answer at once: by fields, by search, by outline.'

const isCut = ({ callWhole }: CompiledTool): boolean => callWhole !== undefined

/** Whether any answer may be cut: those of tools that no list has are by the server's budget alone. */
const needsAnswerTools = (
  { maxResponseTokens }: BudgetedServer,
  tools: readonly CompiledTool[],
  unlisted: UnlistedTools | undefined,
): boolean => tools.some(isCut) || (unlisted !== undefined && maxResponseTokens > 0)

const canLink = (tools: readonly CompiledTool[], unlisted: UnlistedTools | undefined): boolean =>
  unlisted !== undefined || tools.some(({ isLinked }) => isLinked === true)

/** The tools that go on from cut answers, beside those whose answers are cut; none where none is. */
export const addAnswerTools = (
  server: BudgetedServer,
  tools: readonly CompiledTool[],
  unlisted: UnlistedTools | undefined,
  parts: Parts,
): CompiledTool[] => {
  if (!needsAnswerTools(server, tools, unlisted)) return []
  const findTool = findByName(tools, unlisted)
  return compileAnswerTools({ ...parts, server, hasGroups: false, findTool, isLinked: canLink(tools, unlisted) })
}

/** The same as a group of their own, where a server groups. */
export const groupAnswerTools = (
  name: string,
  server: BudgetedServer,
  groups: readonly ToolGroup[],
  parts: Parts,
): ToolGroup[] => {
  const shown = groups.filter(({ off }) => off === undefined)
  const isWanted = shown.some(({ tools = [], unlisted }) => needsAnswerTools(server, tools, unlisted))
  if (!isWanted) return []
  const isLinked = shown.some(({ tools = [], unlisted }) => canLink(tools, unlisted))
  const tools = compileAnswerTools({ ...parts, server, hasGroups: true, findTool: findInGroups(shown), isLinked })
  return [{ name, description: GROUP_DESCRIPTION, outage: undefined, tools }]
}
