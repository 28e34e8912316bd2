import { failure, success } from '../../lib/kernel/result.ts'
import type { UnlistedTools } from '../../runtime/call/compiled-server.ts'
import type { CompiledTool } from '../../runtime/call/compiled-tool.ts'
import { listNames, quoteName } from '../../runtime/call/group-texts.ts'
import type { ToolGroup } from '../../runtime/call/tool-group.ts'
import type { CutResultToolParts } from './cut-result-tools.ts'

type FindTool = CutResultToolParts['findTool']

/** Creates the tool lookup for a server that lists its tools individually, not in groups. */
export const findByName = (tools: readonly CompiledTool[], unlisted: UnlistedTools | undefined): FindTool => {
  const byName = new Map(
    tools.map(({ name, call, callWhole, isReadOnly, isReadOnlyCall }) => [
      name,
      { call, callWhole, isReadOnly, isReadOnlyCall },
    ]),
  )
  return (_group, name, context) => {
    const found = byName.get(name) ?? (context?.link?.peer && unlisted?.find(name))
    if (found !== undefined) return success(found)
    return failure(`There is no tool ${quoteName(name)}. ${listNames('The tools', [...byName.keys()])}`)
  }
}

/** Creates the tool lookup for a server that groups its tools. `groups` must not include groups that are off. */
export const findInGroups = (groups: readonly ToolGroup[]): FindTool => {
  const byName = new Map(groups.map(({ name, tools = [], unlisted }) => [name, findByName(tools, unlisted)]))
  return (group, name, context) => {
    const groupNames = listNames('The groups', [...byName.keys()])
    if (group === undefined) return failure(`"group" is missing. Give the group of the tool. ${groupNames}`)
    const find = byName.get(group)
    return find === undefined
      ? failure(`There is no group ${quoteName(group)}. ${groupNames}`)
      : find(undefined, name, context)
  }
}
