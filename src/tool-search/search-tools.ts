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
import { type FoundBudget, renderFoundTools } from './found-tools.ts'
import { createToolSearch, type ToolSearch, type ToolSearchParts } from './tool-search.ts'

export const FIND_TOOLS = 'find_tools'
export const CALL_TOOL = 'call_tool'

const DEFAULT_FOUND = 5
const MAX_FOUND = 20
/** Number of similar names to suggest for an unknown name. */
const NEAREST = 3

const FIND_SCHEMA = objectSchema(
  {
    query: { type: 'string', description: 'The task, in a few words' },
    limit: {
      type: 'integer',
      minimum: 1,
      maximum: MAX_FOUND,
      description: `Maximum number of tools (default ${DEFAULT_FOUND})`,
    },
  },
  ['query'],
)
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

type Question = { query: string; limit: number }

const readQuestion = (given: JsonValue | undefined): Result<Question, string> => {
  const checked = checkArguments(given, ['query', 'limit'])
  if (!checked.ok) return checked
  const query = readText(checked.value, 'query', 'Describe the task in a few words.')
  if (!query.ok) return query
  if (query.value.trim() === '') return failure('"query" is empty. Describe the task in a few words.')
  const limit = checked.value.limit ?? DEFAULT_FOUND
  if (typeof limit !== 'number' || !Number.isInteger(limit) || limit < 1 || limit > MAX_FOUND) {
    return failure(`"limit" must be a whole number from 1 to ${MAX_FOUND}.`)
  }
  return success({ query: query.value, limit })
}

const nothingFound = (query: string): ToolResult => ({
  content: [
    {
      type: 'text',
      text: `No tool matches ${quoteName(query)}. Try other words: the action and the object.`,
    },
  ],
  structuredContent: { tools: [] },
})

const compileFind = (search: ToolSearch, { unlisted, budget }: SearchParts, count: number): CompiledTool => ({
  name: FIND_TOOLS,
  title: undefined,
  description: `Finds tools by what they do, to be called with ${CALL_TOOL}: this server has ${count} that are not listed here. Search in the words of the task.`,
  inputSchema: FIND_SCHEMA,
  outputSchema: TOOLS_OUTPUT,
  annotations: { readOnlyHint: true, openWorldHint: false },
  isReadOnly: true,
  isLinked: unlisted !== undefined,
  call: async (given, context) => {
    const question = readQuestion(given)
    if (!question.ok) return { result: errorResult(truncateError(question.error)) }
    const { query, limit } = question.value
    const found = await search.find(query, limit, context)
    return { result: found.length === 0 ? nothingFound(query) : await renderFoundTools(found, budget) }
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
 * `findable` holds the tools that a search can find. `hiddenCount` is the number of these that are not listed.
 */
export const compileSearchTools = (
  tools: readonly CompiledTool[],
  findable: readonly CompiledTool[],
  hiddenCount: number,
  parts: SearchParts,
): CompiledTool[] => {
  const search = createToolSearch(findable, parts)
  return [compileCall(tools, search, parts), compileFind(search, parts, hiddenCount)]
}

/** Explains to a client why a tool name is unknown on a server with search. */
export const explainSearch = (name: string): string =>
  `Unknown tool: ${onOneLine(name)}. Find the tools of this server with ${FIND_TOOLS} and call them with ${CALL_TOOL}`
