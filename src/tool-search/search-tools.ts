import { failure, type JsonObject, type JsonValue, type Result, success } from '../../kernel/index.ts'
import { type CallContext, type CompiledTool, onlyReads, type ToolResult } from '../compiled-server.ts'
import { errorResult } from '../faults.ts'
import { listNames, onOneLine, quoteName } from '../group-texts.ts'
import { checkArguments, objectSchema, readInnerArguments, readText, TOOLS_OUTPUT } from '../own-tool-arguments.ts'
import { boundError } from '../resolve.ts'
import { type FoundBudget, renderFoundTools } from './found-tools.ts'
import { createToolSearch, type ToolSearch, type ToolSearchParts } from './tool-search.ts'

export const FIND_TOOLS = 'find_tools'
export const CALL_TOOL = 'call_tool'

const DEFAULT_FOUND = 5
const MAX_FOUND = 20
/** Names that are offered in place of one that nobody has. */
const NEAREST = 3

const FIND_SCHEMA = objectSchema(
  {
    query: { type: 'string', description: 'What is to be done, in a few words' },
    limit: { type: 'integer', minimum: 1, maximum: MAX_FOUND, description: `At most so many (${DEFAULT_FOUND})` },
  },
  ['query'],
)
const CALL_SCHEMA = objectSchema(
  {
    name: { type: 'string', description: 'The name of a tool' },
    arguments: { type: 'object', description: 'Its arguments, by its inputSchema' },
  },
  ['name'],
)

type SearchParts = ToolSearchParts & {
  /** Why there is no tool of a name, where more is known than that. */
  explain: (name: string) => string | undefined
  budget: FoundBudget
}

type Question = { query: string; limit: number }

const readQuestion = (given: JsonValue | undefined): Result<Question, string> => {
  const checked = checkArguments(given, ['query', 'limit'])
  if (!checked.ok) return checked
  const query = readText(checked.value, 'query', 'Say in a few words what is to be done.')
  if (!query.ok) return query
  if (query.value.trim() === '') return failure('"query" is empty. Say in a few words what is to be done.')
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
      text: `No tool has anything of ${quoteName(query)}. Other words may help: what is to be done, and to what.`,
    },
  ],
  structuredContent: { tools: [] },
})

const compileFind = (search: ToolSearch, { unlisted, budget }: SearchParts, count: number): CompiledTool => ({
  name: FIND_TOOLS,
  title: undefined,
  description: `Finds tools by what they do, to be called with ${CALL_TOOL}: this server has ${count} that are not listed here. Ask in the words of the task.`,
  inputSchema: FIND_SCHEMA,
  outputSchema: TOOLS_OUTPUT,
  annotations: { readOnlyHint: true, openWorldHint: false },
  isReadOnly: true,
  isLinked: unlisted !== undefined,
  call: async (given, context) => {
    const question = readQuestion(given)
    if (!question.ok) return errorResult(boundError(question.error))
    const { query, limit } = question.value
    const found = await search.find(query, limit, context)
    if (found.length === 0) return nothingFound(query)
    return renderFoundTools(found, budget)
  },
})

type Inner = { tool: Pick<CompiledTool, 'isReadOnly' | 'isReadOnlyCall' | 'call'>; args: JsonObject }
/** Why nothing is called; a name that nobody has is told with those that are near. */
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
      return failure({ text: `${name.value} is no tool for ${CALL_TOOL}: it is called by itself.` })
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
      return errorResult(boundError(await explain(found.error, context)))
    },
  }
}

/**
 * The two tools that stand for all others: one finds them, the other calls them. What a call of the second brings is the
 * inner tool's own. `findable`: those that are found; `hiddenCount`: how many no list has beside them.
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

/** A name as an explanation of what is missing quotes it. */
export const explainSearch = (name: string): string =>
  `Unknown tool: ${onOneLine(name)}. The tools of this server are found with ${FIND_TOOLS}, and called with ${CALL_TOOL}`
