import type { UnlistedTools } from '../../runtime/call/compiled-server.ts'
import type { CompiledTool } from '../../runtime/call/compiled-tool.ts'
import type { ToolGroup } from '../../runtime/call/tool-group.ts'
import { type CutResultToolParts, compileCutResultTools } from './cut-result-tools.ts'
import { findByName, findInGroups } from './find-tool.ts'
import type { BudgetedServer } from './result-budget.ts'

export type CutResultPlaceParts = Pick<
  CutResultToolParts,
  'cutCache' | 'exactCounts' | 'inspector' | 'onInternalError' | 'recorder'
>
type Parts = CutResultPlaceParts & Pick<CutResultToolParts, 'masker'>

/** Name of the group with the three tools that read cut results, on a server that groups its tools. */
const GROUP = 'answers'
/** Returns the group's name, or a longer one if it is taken. */
export const nameCutResultGroup = (others: readonly string[]): string =>
  others.includes(GROUP) ? `${GROUP} of this server` : GROUP

const GROUP_DESCRIPTION =
  'Reads more of a cut result, or returns only part of a result: some fields, search matches or an outline.'

const isCut = ({ callWhole }: CompiledTool): boolean => callWhole !== undefined

/** Returns whether any result may be cut. Unlisted tools have no budget of their own, only the server's. */
const needsCutResultTools = (
  { maxResponseTokens }: BudgetedServer,
  tools: readonly CompiledTool[],
  unlisted: UnlistedTools | undefined,
): boolean => tools.some(isCut) || (unlisted !== undefined && maxResponseTokens > 0)

const canLink = (tools: readonly CompiledTool[], unlisted: UnlistedTools | undefined): boolean =>
  unlisted !== undefined || tools.some(({ isLinked }) => isLinked === true)

/** Returns the tools that read cut results, or an empty list if no result can be cut. */
export const addCutResultTools = (
  server: BudgetedServer,
  tools: readonly CompiledTool[],
  unlisted: UnlistedTools | undefined,
  parts: Parts,
): CompiledTool[] => {
  if (!needsCutResultTools(server, tools, unlisted)) return []
  const findTool = findByName(tools, unlisted)
  return compileCutResultTools({ ...parts, server, hasGroups: false, findTool, isLinked: canLink(tools, unlisted) })
}

/** Returns the tools that read cut results as a group, for a server that groups its tools. */
export const groupCutResultTools = (
  name: string,
  server: BudgetedServer,
  groups: readonly ToolGroup[],
  parts: Parts,
): ToolGroup[] => {
  const shown = groups.filter(({ off }) => off === undefined)
  const isWanted = shown.some(({ tools = [], unlisted }) => needsCutResultTools(server, tools, unlisted))
  if (!isWanted) return []
  const isLinked = shown.some(({ tools = [], unlisted }) => canLink(tools, unlisted))
  const tools = compileCutResultTools({ ...parts, server, hasGroups: true, findTool: findInGroups(shown), isLinked })
  return [{ name, description: GROUP_DESCRIPTION, outage: undefined, tools }]
}
