import type { JsonObject, JsonValue } from '../lib/kernel/json.ts'
import { failure, type Result, success } from '../lib/kernel/result.ts'
import { type CallContext, type CompiledTool, onlyReads } from '../runtime/call/compiled-tool.ts'
import { listNames, onOneLine, quoteName } from '../runtime/call/group-texts.ts'
import {
  checkArguments,
  objectSchema,
  readInnerArguments,
  readText,
  TOOLS_OUTPUT,
} from '../runtime/call/own-tool-arguments.ts'
import { errorResult, type ToolResult, truncateError } from '../runtime/call/tool-result.ts'
import { CALL_TOOL, describeFind, FIND_SCHEMA, FIND_TOOLS, readQuestion, type SearchOverview } from './find-question.ts'
import { type FoundBudget, renderFoundTools } from './found-tools.ts'
import { createToolSearch, type Question, type ToolSearch, type ToolSearchParts } from './tool-search.ts'

/** Number of similar names to suggest for an unknown name. */
const NEAREST = 3

const CALL_SCHEMA = objectSchema(
  {
    name: { type: 'string', description: 'The name of a tool' },
    arguments: { type: 'object', description: 'Its arguments, matching its inputSchema' },
  },
  ['name'],
)

type SearchParts = ToolSearchParts & {
  /** Explains why there is no tool with this name. Returns undefined if nothing more is known. */
  explain: (name: string) => string | undefined
  budget: FoundBudget
}

const nothingFound = ({ queries, group }: Question): ToolResult => {
  const asked = queries.map(quoteName).join(' or ')
  const within = group === undefined ? '' : ` in the group ${quoteName(group)}`
  return {
    content: [{ type: 'text', text: `No tool${within} matches ${asked}. Try other words: the action and the object.` }],
    structuredContent: { tools: [] },
  }
}

const compileFind = (
  search: ToolSearch,
  { unlisted, budget }: SearchParts,
  overview: SearchOverview,
): CompiledTool => ({
  name: FIND_TOOLS,
  title: undefined,
  description: describeFind(overview),
  inputSchema: FIND_SCHEMA,
  outputSchema: TOOLS_OUTPUT,
  annotations: { readOnlyHint: true, openWorldHint: false },
  isReadOnly: true,
  isLinked: unlisted !== undefined,
  call: async (given, context) => {
    const groups = [...overview.groups.map(({ name }) => name), ...search.listOwnGroups(context)]
    const question = readQuestion(given, [...new Set(groups)])
    if (!question.ok) return { result: errorResult(truncateError(question.error)) }
    const found = await search.find(question.value, context)
    return { result: found.length === 0 ? nothingFound(question.value) : await renderFoundTools(found, budget) }
  },
})

type Inner = { tool: Pick<CompiledTool, 'isReadOnly' | 'isReadOnlyCall' | 'call'>; args: JsonObject }
/** The reason that no tool is called. `unknown` is set if similar names should be suggested. */
type Refused = { text: string; unknown?: string }

const compileCall = (tools: readonly CompiledTool[], search: ToolSearch, parts: SearchParts): CompiledTool => {
  const byName = new Map(tools.map(tool => [tool.name, tool]))
  const find = (given: JsonValue | undefined, peer?: object): Result<Inner, Refused> => {
    const checked = checkArguments(given, ['name', 'arguments'])
    if (!checked.ok) return failure({ text: checked.error })
    const name = readText(checked.value, 'name', `${FIND_TOOLS} finds tools.`)
    if (!name.ok) return failure({ text: name.error })
    const tool = byName.get(name.value) ?? (peer && parts.unlisted?.find(name.value))
    if (tool === undefined && (name.value === FIND_TOOLS || name.value === CALL_TOOL)) {
      return failure({ text: `${name.value} cannot be called through ${CALL_TOOL}: call it directly.` })
    }
    if (tool === undefined) {
      const why = parts.explain(name.value) ?? `There is no tool ${quoteName(name.value)}`
      return failure({ text: why, unknown: name.value })
    }
    const args = readInnerArguments(checked.value, 'arguments')
    return args.ok ? success({ tool, args: args.value }) : failure({ text: args.error })
  }
  const explain = async ({ text, unknown }: Refused, context: CallContext): Promise<string> => {
    if (unknown === undefined) return text
    const near = await search.findNamed(unknown, NEAREST, context)
    const hint =
      near.length === 0
        ? `${FIND_TOOLS} finds tools.`
        : listNames(
            'The nearest are',
            near.map(({ name }) => name),
          )
    return `${text}. ${hint}`
  }
  return {
    name: CALL_TOOL,
    title: undefined,
    description: `Calls a tool that ${FIND_TOOLS} has found.`,
    inputSchema: CALL_SCHEMA,
    outputSchema: undefined,
    annotations: undefined,
    isReadOnly: false,
    isLinked: parts.unlisted !== undefined || tools.some(({ isLinked }) => isLinked === true),
    isReadOnlyCall: given => {
      const found = find(given)
      return found.ok && onlyReads(found.value.tool, found.value.args)
    },
    call: async (given, context) => {
      const found = find(given, context.link?.peer)
      if (found.ok) return found.value.tool.call(found.value.args, context)
      return { result: errorResult(truncateError(await explain(found.error, context))) }
    },
  }
}

/**
 * Compiles the two tools that replace all others: one finds tools, and the other calls them and returns their results.
 * `findable` holds the tools that a search can find.
 */
export const compileSearchTools = (
  tools: readonly CompiledTool[],
  findable: readonly CompiledTool[],
  overview: SearchOverview,
  parts: SearchParts,
): CompiledTool[] => {
  const search = createToolSearch(findable, parts)
  return [compileCall(tools, search, parts), compileFind(search, parts, overview)]
}

/** Explains to a client why a tool name is unknown on a server with search. */
export const explainSearch = (name: string): string =>
  `Unknown tool: ${onOneLine(name)}. Find the tools of this server with ${FIND_TOOLS} and call them with ${CALL_TOOL}`
