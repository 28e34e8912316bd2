import type { Tenant } from '../worker/fair-queue.ts'
import type { Job } from '../worker/job.ts'
import { mapInTurns } from '../worker/pause.ts'
import { createKnownTokens, type TextCounterFor, type TokenCounterFor } from './token-counter.ts'
import { countTokens } from './tokens.ts'

/**
 * Counts tokens in the worker pool, because loading the tokenizer takes longer than a call may wait. Counts each text
 * only once.
 */
export const createTokenWork = (countTexts: Job<readonly string[], number[]>) => {
  const known = createKnownTokens()

  const countUnknown = async ({ owner, group }: Tenant, texts: readonly string[]): Promise<number[]> => {
    if (texts.length === 0) return []
    const counted = await countTexts.run(owner, texts, { group })
    // The caller needs the count, so this thread counts if the pool cannot.
    return counted.ok ? counted.value : mapInTurns(texts, countTokens)
  }

  const sumTokens = async (tenant: Tenant, texts: readonly string[]): Promise<number> => {
    const found = await mapInTurns(texts, text => ({ text, ...known.find(text) }))
    const unknown = found.filter(({ tokens }) => tokens === undefined)
    const counted = await countUnknown(
      tenant,
      unknown.map(({ text }) => text),
    )
    for (const [index, { remember }] of unknown.entries()) remember(counted[index] ?? 0)
    const sum = (numbers: readonly (number | undefined)[]) => numbers.reduce<number>((all, one = 0) => all + one, 0)
    return sum(found.map(({ tokens }) => tokens)) + sum(counted)
  }

  return {
    /** Returns the total token count of all texts. */
    sumTokens,
    /** Creates the counter for what a user sees on pages. They share the threads as the user's organizations do. */
    counterFor: (userId => text => sumTokens({ owner: userId, group: userId }, [text])) satisfies TokenCounterFor,
    /** Creates the counter of many texts, which remembers none. */
    textCounterFor: (owner => texts => countUnknown({ owner, group: owner }, texts)) satisfies TextCounterFor,
  }
}

export type TokenWork = ReturnType<typeof createTokenWork>
