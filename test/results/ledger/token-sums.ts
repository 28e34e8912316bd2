import { expect } from 'vitest'
import { z } from 'zod'
import { countTokens } from '../../../src/lib/tokens/tokens.ts'
import type { ApiClient } from '../../support/api-client.ts'

const sums = {
  calls: z.int(),
  counted: z.int(),
  estimated: z.int(),
  tokensBefore: z.int(),
  tokensSent: z.int(),
  tokensSaved: z.int(),
}
const Tokens = z.object({
  encoding: z.string(),
  from: z.string(),
  to: z.string(),
  ...sums,
  days: z.array(z.object({ day: z.string(), ...sums })),
  tools: z.array(z.object({ tool: z.string(), ...sums })),
})

/** Reads how many tokens the calls of a server cost. `query` selects the days. */
export const readTokens = async (user: ApiClient, serverId: string, query = '') =>
  Tokens.parse((await user.expectOk('GET', `/servers/${serverId}/executions/tokens${query}`)).body)

/** Waits until the sums contain this many calls, and returns them. */
export const readWhenCounted = async (user: ApiClient, serverId: string, counted: number) => {
  const isCounted = async () => (await readTokens(user, serverId)).counted
  await expect.poll(isCounted, { timeout: 20_000 }).toBe(counted)
  return readTokens(user, serverId)
}

/** Counts the tokens of each text separately, and returns their sum. */
export const countAll = async (texts: readonly string[]): Promise<number> => {
  const tokens = await Promise.all(texts.map(countTokens))
  return tokens.reduce((sum, one) => sum + one, 0)
}
