import type { JsonValue } from '../lib/kernel/json.ts'
import type { TokenWork } from '../lib/tokens/token-work.ts'
import type { Tenant } from '../lib/worker/fair-queue.ts'
import type { CompiledTool } from '../runtime/call/compiled-tool.ts'
import { cutText, listNames } from '../runtime/call/group-texts.ts'
import type { ToolResult } from '../runtime/call/tool-result.ts'

/** Maximum length of a tool's description in a search result, in characters. */
const MAX_DESCRIPTION_CHARS = 2_000
/** Maximum number of names listed for tools that did not fit the token budget. */
const MAX_LEFT_NAMED = 5
/** Number of tokens reserved for the names of tools that did not fit. */
const LEFT_TOKENS = 120

export type FoundBudget = {
  tenant: Tenant
  /** Token budget of one result. 0 means no limit. */
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

/**
 * Returns how many of the texts fit the budget, in order. Returns at least 1, because a tool that is not shown cannot
 * be called.
 */
const countWithin = async (texts: readonly string[], { tenant, maxTokens, counting }: FoundBudget): Promise<number> => {
  let left = maxTokens - LEFT_TOKENS
  for (const [index, text] of texts.entries()) {
    left -= await counting.sumTokens(tenant, [text])
    if (left < 0) return Math.max(1, index)
  }
  return texts.length
}

const toLongText = (texts: readonly string[]): ToolResult => ({
  utf8: Buffer.from(`[${texts.join(',')}]`),
  structuredAs: 'tools',
})

/** Renders as many of the found tools as fit the budget, best first, and lists some names of the others. */
export const renderFoundTools = async (found: readonly Described[], budget: FoundBudget): Promise<ToolResult> => {
  const texts = found.map(renderFound)
  const bytes = texts.reduce((sum, text) => sum + Buffer.byteLength(text), 0)
  // A token is at least one byte.
  const isWithin = budget.maxTokens === 0 || bytes + LEFT_TOKENS <= budget.maxTokens
  const count = isWithin ? texts.length : await countWithin(texts, budget)
  if (count === texts.length) return toLongText(texts)
  const shown = `[${texts.slice(0, count).join(',')}]`
  const names = found.slice(count).map(({ name }) => name)
  const more = names.length - MAX_LEFT_NAMED
  const named = listNames('These also match', names.slice(0, MAX_LEFT_NAMED)).replace(/\.$/, '')
  const note = `${named}${more > 0 ? ` and ${more} more` : ''}. They do not fit the token budget. To get one, search with its words and limit 1.`
  const tools: JsonValue = JSON.parse(shown)
  return {
    content: [
      { type: 'text', text: shown },
      { type: 'text', text: note },
    ],
    structuredContent: { tools },
  }
}
