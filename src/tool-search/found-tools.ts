import type { TokenWork } from '../../context/index.ts'
import type { JsonValue } from '../../kernel/index.ts'
import type { CompiledTool, ToolResult } from '../compiled-server.ts'
import { cutText, listNames } from '../group-texts.ts'

/** Of each tool's description, in an answer to a question: what is longer is for who reads the API's documentation. */
const MAX_DESCRIPTION_CHARS = 2_000
/** Names of tools that have no place in the answer. */
const MAX_LEFT_NAMED = 5
/** Room for these, in tokens. */
const LEFT_TOKENS = 120

export type FoundBudget = {
  serverId: string
  /** Tokens of one answer; 0: as many as it takes. */
  maxTokens: number
  counting: Pick<TokenWork, 'sumTokens'>
}

type Described = Pick<CompiledTool, 'name' | 'title' | 'description' | 'inputSchema'>

const renderFound = ({ name, title, description, inputSchema }: Described): string =>
  JSON.stringify({
    name,
    title,
    description: description === undefined ? undefined : cutText(description, MAX_DESCRIPTION_CHARS),
    inputSchema,
  })

/** How many of the first ones are within the budget; one at least, which could not be called otherwise. */
const countWithin = async (
  texts: readonly string[],
  { serverId, maxTokens, counting }: FoundBudget,
): Promise<number> => {
  let left = maxTokens - LEFT_TOKENS
  for (const [index, text] of texts.entries()) {
    left -= await counting.sumTokens(serverId, [text])
    if (left < 0) return Math.max(1, index)
  }
  return texts.length
}

const toLongText = (texts: readonly string[]): ToolResult => ({
  utf8: Buffer.from(`[${texts.join(',')}]`),
  structuredAs: 'tools',
})

/** The tools that fit, the best first, as many as the budget has room for; of the others it is said what they are called. */
export const renderFoundTools = async (found: readonly Described[], budget: FoundBudget): Promise<ToolResult> => {
  const texts = found.map(renderFound)
  const bytes = texts.reduce((sum, text) => sum + Buffer.byteLength(text), 0)
  // No token has less than a byte.
  const isWithin = budget.maxTokens === 0 || bytes + LEFT_TOKENS <= budget.maxTokens
  const count = isWithin ? texts.length : await countWithin(texts, budget)
  if (count === texts.length) return toLongText(texts)
  const shown = `[${texts.slice(0, count).join(',')}]`
  const names = found.slice(count).map(({ name }) => name)
  const more = names.length - MAX_LEFT_NAMED
  const named = listNames('These fit as well', names.slice(0, MAX_LEFT_NAMED)).replace(/\.$/, '')
  const note = `${named}${more > 0 ? ` and ${more} more` : ''}. There was no room for them: ask with limit 1 in the words of one of them.`
  const tools: JsonValue = JSON.parse(shown)
  return {
    content: [
      { type: 'text', text: shown },
      { type: 'text', text: note },
    ],
    structuredContent: { tools },
  }
}
