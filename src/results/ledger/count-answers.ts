import { createTokenCounter } from '../../lib/tokens/token-counter.ts'
import { threadTimeMs } from '../../lib/worker/thread-time.ts'
import type { AnswerTokens, AnswerTokensJob } from './answer-tokens-job.ts'

/** Counts one job after the other, and a text that comes again once. */
export const createAnswerCount = () => {
  const count = createTokenCounter()
  let reportedMs = 0

  const countAnswer = async (texts: readonly string[]): Promise<number> => {
    let sum = 0
    for (const text of texts) sum += await count(text)
    return sum
  }

  return async ({ answers, timeMs }: AnswerTokensJob): Promise<AnswerTokens> => {
    const endsAtMs = threadTimeMs() + timeMs
    const tokens: (number | undefined)[] = []
    for (const texts of answers) tokens.push(threadTimeMs() < endsAtMs ? await countAnswer(texts) : undefined)
    const tookMs = threadTimeMs() - reportedMs
    reportedMs += tookMs
    return { tokens, tookMs }
  }
}
