import { runJobs } from '../worker/thread-jobs.ts'
import { countTokens } from './tokens.ts'

// What the worker thread of token-work.ts runs: how many tokens each of the texts has.

export default runJobs(async (texts: readonly string[]): Promise<number[]> => {
  const counted: number[] = []
  for (const text of texts) counted.push(await countTokens(text))
  return counted
})
