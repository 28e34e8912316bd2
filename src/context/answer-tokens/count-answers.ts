import { createTokenCounter } from '../counting/index.ts'
import type { AnswerTokens, AnswerTokensJob } from './answer-tokens-job.ts'

/** What this thread has taken of a core since it began, in milliseconds. */
const usedMs = (): number => {
  const { user, system } = process.threadCpuUsage()
  return (user + system) / 1_000
}

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
    const endsAtMs = usedMs() + timeMs
    const tokens: (number | undefined)[] = []
    for (const texts of answers) tokens.push(usedMs() < endsAtMs ? await countAnswer(texts) : undefined)
    const tookMs = usedMs() - reportedMs
    reportedMs += tookMs
    return { tokens, tookMs }
  }
}
