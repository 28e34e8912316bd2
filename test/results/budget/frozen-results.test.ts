import type { Client } from '@modelcontextprotocol/client'
import { beforeAll, describe, expect, it, vi } from 'vitest'
import { z } from 'zod'
import { ANSWERS, readAnswer } from '../../../bench/answers/answers.ts'
import { type Asked, askQuestion, type CallTool, MAX_FACT_TOKENS } from '../../../bench/answers/asking.ts'
import { QUESTIONS } from '../../../bench/answers/questions.ts'
import { UNSEEN_ANSWERS } from '../../../bench/answers/unseen-answers.ts'
import { UNSEEN_QUESTIONS } from '../../../bench/answers/unseen-questions.ts'
import { median, quantile } from '../../../bench/statistics.ts'
import { countTokens } from '../../../src/lib/tokens/tokens.ts'
import { callTexts, connect } from '../../servers/mcp.ts'
import { makeServer, signUp } from '../../support/api-client.ts'
import { casesOfRun } from '../../support/cases-of-run.ts'
import { runFakeApi, runPatchbay } from '../../support/world.ts'

// A low-priority process reads large results, which takes long on a busy machine.
vi.setConfig({ testTimeout: 120_000 })

const BUDGET = 1_000
const MIN_BYTES = 100_000
const MAX_BYTES = 10_000_000
/** `npm test` tries one in this many results. */
const FIRST_OF = 4
/** Upper limit for the median share of a result's tokens that the first reply contains. */
const MAX_MEDIAN_SHARE = 0.05

const Meta = z.looseObject({ cacheId: z.string(), tokens: z.int() })

describe('real results of 100 kB to 10 MB, with a budget of 1,000 tokens', () => {
  const patchbay = runPatchbay()
  const fake = runFakeApi(({ url }, response) => {
    const answer = ANSWERS.find(({ name }) => url === `/${name}`)
    if (answer === undefined) response.writeHead(404).end()
    else response.writeHead(200, { 'content-type': answer.mediaType }).end(readAnswer(answer))
  })
  let url = ''
  beforeAll(async () => {
    const tools = ANSWERS.map(({ name }) => ({ name, method: 'GET', url: `${fake.origin}/${name}` }))
    ;({ url } = await makeServer(await signUp(patchbay.origin), tools, { server: { maxResponseTokens: BUDGET } }))
  })

  const call = async (client: Client, name: string, args: Record<string, unknown> = {}) => {
    const { text, isError, meta } = await callTexts(client, name, args, { timeout: 60_000 })
    if (isError) throw new Error(`${name} ${JSON.stringify(args)}: ${text}`)
    return { text, about: Meta.safeParse(meta).data }
  }
  const shares: number[] = []
  const allAsked: Asked[] = []

  it('are at least twenty, each with three questions', () => {
    expect(ANSWERS.length).toBeGreaterThanOrEqual(20)
    expect(Object.keys(QUESTIONS).sort()).toEqual(ANSWERS.map(({ name }) => name).sort())
    expect(Object.keys(UNSEEN_QUESTIONS).sort()).toEqual(UNSEEN_ANSWERS.map(({ name }) => name).sort())
    expect(Object.values(UNSEEN_QUESTIONS).flat()).toHaveLength(3 * UNSEEN_ANSWERS.length)
  })

  it.each(casesOfRun(ANSWERS, (_, index) => index % FIRST_OF === 0))(
    '$name: the first reply is small, and every fact can be found',
    async answer => {
      const { length } = readAnswer(answer)
      expect(length).toBeGreaterThan(MIN_BYTES)
      expect(length).toBeLessThan(MAX_BYTES)
      const client = await connect(url)
      const first = await call(client, answer.name)
      if (first.about === undefined) throw new Error('it was not cut')
      const shown = await countTokens(first.text)
      expect(shown).toBeLessThanOrEqual(BUDGET)
      shares.push(shown / first.about.tokens)

      const callTool: CallTool = async (tool, args) => {
        const { text, about } = await call(client, tool, args)
        expect(await countTokens(text)).toBeLessThanOrEqual(BUDGET)
        return { text, cacheId: about?.cacheId }
      }
      const asked: Asked[] = []
      const reply = { text: first.text, cacheId: first.about.cacheId }
      for (const question of QUESTIONS[answer.name] ?? []) asked.push(await askQuestion(callTool, reply, question))
      allAsked.push(...asked)
      expect(asked.filter(({ isFound }) => !isFound)).toEqual([])
    },
  )

  it('take at most 5 % of their tokens in the first reply at the median', () => {
    expect(median(shares)).toBeLessThanOrEqual(MAX_MEDIAN_SHARE)
  })

  it('cost few tokens for each fact', () => {
    const costs = allAsked.map(({ tokens }) => tokens)
    expect(median(costs)).toBeLessThanOrEqual(MAX_FACT_TOKENS.median)
    expect(quantile(costs, 0.9)).toBeLessThanOrEqual(MAX_FACT_TOKENS.p90)
  })
})
