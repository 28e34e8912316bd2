/** Asks the questions about the frozen results, and counts what each fact costs. */
import type { JsonObject } from '../../src/lib/kernel/json.ts'
import { countTokens } from '../../src/lib/tokens/tokens.ts'
import type { AnswerQuestion } from './questions.ts'

export type Reply = { text: string; cacheId: string | undefined; isError?: boolean }

/** Calls `proxy_filter`, `proxy_search` or `proxy_explore`. */
export type CallTool = (name: string, args: JsonObject) => Promise<Reply>

/** `tokens` are those of the arguments and the replies of all calls for the fact. `text` is the last reply. */
export type Asked = { ask: string; isFound: boolean; tokens: number; text: string }

/** The most that a fact may cost at the median and at the 90th percentile, besides the first reply. */
export const MAX_FACT_TOKENS = { median: 190, p90: 2_250 }

/** Makes the calls of a question, after the first reply. */
export const askQuestion = async (
  call: CallTool,
  first: Reply,
  { ask, fact, calls }: AnswerQuestion,
): Promise<Asked> => {
  let last = first
  let tokens = 0
  for (const { from, ...each } of calls) {
    const [[tool, given] = ['', {}]] = Object.entries(each)
    const { cacheId: source } = from === 'whole' ? first : last
    const args: JsonObject = { ...JSON.parse(JSON.stringify(given)), ...(source !== undefined && { cache_id: source }) }
    last = await call(`proxy_${tool}`, args)
    tokens += (await countTokens(JSON.stringify(args))) + (await countTokens(last.text))
  }
  return { ask, isFound: last.isError !== true && last.text.includes(fact), tokens, text: last.text }
}
