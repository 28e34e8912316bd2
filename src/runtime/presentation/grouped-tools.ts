import type { JsonObject, JsonValue } from '../../lib/kernel/json.ts'
import { failure, type Result, success } from '../../lib/kernel/result.ts'
import type { OuterCall, UnlistedTools } from '../call/compiled-server.ts'
import { type CallContext, type CompiledTool, onlyReads } from '../call/compiled-tool.ts'
import { describeGroups, listNames, listShownTools, quoteName } from '../call/group-texts.ts'
import { checkArguments, objectSchema, readInnerArguments, readText, TOOLS_OUTPUT } from '../call/own-tool-arguments.ts'
import type { ToolGroup } from '../call/tool-group.ts'
import { renderToolJson } from '../call/tool-json.ts'
import { errorResult, type LongText, truncateError } from '../call/tool-result.ts'

/** The members that calls need. Lists are sent from prepared bytes. */
type GroupedTool = Pick<CompiledTool, 'call' | 'isReadOnly' | 'isReadOnlyCall'>

type OpenGroup = {
  name: string
  tools: ReadonlyMap<string, GroupedTool>
  unlisted: UnlistedTools | undefined
  /** The names of the tools that are listed. */
  names: readonly string[]
  json: LongText
}

/** The client that made a call, if it can be asked for input. */
type Peer = NonNullable<CallContext['link']>['peer']

export const GET_TOOLS = 'get_dynamic_tools'
const CALL_TOOL = 'call_dynamic_tool'

const GROUP = { type: 'string', description: 'The name of a group' } as const

const GET_SCHEMA = objectSchema({ group: GROUP }, ['group'])
const CALL_SCHEMA = objectSchema(
  {
    group: GROUP,
    name: { type: 'string', description: 'The name of a tool in the group' },
    args: { type: 'object', description: 'Its arguments, matching its inputSchema' },
  },
  ['group', 'name'],
)

const openGroup = ({ name, unlisted }: ToolGroup, tools: readonly CompiledTool[]): OpenGroup => {
  const shown = listShownTools(tools)
  return {
    name,
    unlisted,
    names: shown.map(tool => tool.name),
    tools: new Map(
      tools.map(({ name: own, call, isReadOnly, isReadOnlyCall }) => [own, { call, isReadOnly, isReadOnlyCall }]),
    ),
    json: { utf8: Buffer.from(`[${shown.map(tool => renderToolJson(tool)).join(',')}]`), structuredAs: 'tools' },
  }
}

const listShown = (groups: readonly ToolGroup[]): ToolGroup[] =>
  groups.filter(({ off, isHidden }) => off === undefined && isHidden !== true)

/** Finds tools by the names that a client sends. Errors list the existing names for the model. */
const createFinder = (groups: readonly ToolGroup[]) => {
  const opened = new Map<string, OpenGroup>()
  const closed = new Map<string, string>()
  for (const group of groups) {
    const { name, tools, off, outage } = group
    if (off !== undefined) closed.set(name, off)
    else if (tools !== undefined) opened.set(name, openGroup(group, tools))
    else closed.set(name, `The group ${quoteName(name)} is not available yet: ${outage ?? 'it has not responded yet'}`)
  }
  const names = listShown(groups).map(({ name }) => name)
  const hint = listNames('The groups', names)
  const findGroup = (name: string): Result<OpenGroup, string> => {
    const group = opened.get(name)
    if (group !== undefined) return success(group)
    const why = closed.get(name)
    return failure(why ?? `There is no group ${quoteName(name)}. ${hint}`)
  }
  const findTool = (groupName: string, name: string, peer: Peer): Result<GroupedTool, string> => {
    const found = findGroup(groupName)
    if (!found.ok) return found
    const tool = found.value.tools.get(name) ?? (peer && found.value.unlisted?.find(name))
    if (tool !== undefined) return success(tool)
    const { name: group, names } = found.value
    const there = listNames('Its tools', names)
    return failure(`There is no tool ${quoteName(name)} in the group ${quoteName(group)}. ${there}`)
  }
  return { hint, findGroup, findTool }
}
type Finder = ReturnType<typeof createFinder>

/** Lists the tools of a group, including those available only to this client. */
const listTools = ({ json, tools, names, unlisted }: OpenGroup, peer: Peer): LongText => {
  const more = peer?.kind === 'session' ? (unlisted?.list(peer) ?? []).filter(({ name }) => !tools.has(name)) : []
  if (more.length === 0) return json
  const comma = names.length > 0 ? ',' : ''
  const end = Buffer.from(`${comma}${more.map(tool => renderToolJson(tool)).join(',')}]`)
  return { ...json, utf8: Buffer.concat([json.utf8.subarray(0, -1), end]) }
}

const compileGet = (finder: Finder, groups: readonly ToolGroup[]): CompiledTool => {
  const find = (given: JsonValue | undefined): Result<OpenGroup, string> => {
    const checked = checkArguments(given, ['group'])
    if (!checked.ok) return checked
    const group = readText(checked.value, 'group', finder.hint)
    return group.ok ? finder.findGroup(group.value) : group
  }
  return {
    name: GET_TOOLS,
    title: undefined,
    description: `Lists the tools of a group, to be called with ${CALL_TOOL}. The groups:\n${describeGroups(groups)}`,
    inputSchema: GET_SCHEMA,
    outputSchema: TOOLS_OUTPUT,
    annotations: { readOnlyHint: true, openWorldHint: false },
    isReadOnly: true,
    isLinked: groups.some(({ unlisted }) => unlisted !== undefined),
    call: async (given, { link }) => {
      const found = find(given)
      return { result: found.ok ? listTools(found.value, link?.peer) : errorResult(truncateError(found.error)) }
    },
  }
}

type Inner = { tool: GroupedTool; args: JsonObject }

const compileCall = (finder: Finder, groups: readonly ToolGroup[]): CompiledTool => {
  const find = (given: JsonValue | undefined, peer?: Peer): Result<Inner, string> => {
    const checked = checkArguments(given, ['group', 'name', 'args'])
    if (!checked.ok) return checked
    const group = readText(checked.value, 'group', finder.hint)
    if (!group.ok) return group
    const name = readText(checked.value, 'name', `${GET_TOOLS} lists the tools of a group.`)
    if (!name.ok) return name
    const tool = finder.findTool(group.value, name.value, peer)
    if (!tool.ok) return tool
    const args = readInnerArguments(checked.value, 'args')
    return args.ok ? success({ tool: tool.value, args: args.value }) : args
  }
  return {
    name: CALL_TOOL,
    title: undefined,
    description: `Calls a tool that ${GET_TOOLS} has listed.`,
    inputSchema: CALL_SCHEMA,
    outputSchema: undefined,
    annotations: undefined,
    isReadOnly: false,
    isLinked: groups.some(
      ({ tools, unlisted }) => unlisted !== undefined || tools?.some(({ isLinked }) => isLinked) === true,
    ),
    isReadOnlyCall: given => {
      const found = find(given)
      return found.ok && onlyReads(found.value.tool, found.value.args)
    },
    call: async (given, context) => {
      const found = find(given, context.link?.peer)
      if (found.ok) return found.value.tool.call(found.value.args, context)
      return { result: errorResult(truncateError(found.error)) }
    },
  }
}

/**
 * Compiles the two tools that replace the tools of all groups. `call_dynamic_tool` returns the inner tool's
 * result unchanged.
 */
export const compileGroupedTools = (groups: readonly ToolGroup[]): CompiledTool[] => {
  const finder = createFinder(groups)
  return [compileCall(finder, groups), compileGet(finder, listShown(groups))]
}

/** Returns a function that finds the group and the name of a tool by its name in the history. */
export const createOuterCalls = (groups: readonly ToolGroup[]): ((name: string) => OuterCall | undefined) => {
  const found = new Map<string, OuterCall>()
  for (const { name: group, tools = [], off } of groups) {
    if (off !== undefined) continue
    for (const { name, recordedAs = name } of tools) {
      if (!found.has(recordedAs)) found.set(recordedAs, { through: CALL_TOOL, where: { group, name }, inner: 'args' })
    }
  }
  return name => found.get(name)
}
