import type { FastifyPluginAsyncZod } from 'fastify-type-provider-zod'
import { z } from 'zod'
import type { TokenSums } from '../../history/tool-days.store.ts'
import { resourceRoutes } from '../../lib/http/resource-routes.ts'
import { serverParams } from '../../lib/http/schemas.ts'
import type { CallTokens, CallTokensOf } from '../../results/ledger/call-tokens.ts'

const DAY_RULE = 'must be a date such as 2026-11-22'
/** Earliest day with token counts. */
const FIRST_DAY = '2020-01-01'
const day = z.iso.date(DAY_RULE).refine(text => text >= FIRST_DAY, DAY_RULE)

const CallTokensQuery = z.object({
  from: day.optional().describe('first day (UTC); default: 29 days before the last'),
  to: day.optional().describe('last day (UTC); default: today'),
})

const sums = {
  calls: z.int().describe('recorded tool calls'),
  counted: z.int().describe('calls whose tokens were counted; the sums cover only these'),
  estimated: z.int().describe('counted calls whose tokens were estimated, as for long results'),
  tokensBefore: z.int().describe('tokens of the results before anything was left out'),
  tokensSent: z.int(),
  tokensSaved: z
    .int()
    .describe('the difference; negative if continuing from earlier cut results cost more than was saved'),
}

const CallTokensView = z.object({
  encoding: z.string().describe('the encoding used to count tokens'),
  from: z.iso.date(),
  to: z.iso.date(),
  ...sums,
  days: z.array(z.object({ day: z.iso.date(), ...sums })).describe('days with calls, oldest first'),
  tools: z
    .array(z.object({ tool: z.string(), ...sums }))
    .describe('by name at the time of the call, most tokens saved first'),
})

const withSaved = <S extends TokenSums>(sums: S) => ({ ...sums, tokensSaved: sums.tokensBefore - sums.tokensSent })

const toCallTokensView = ({ all, days, tools, ...period }: CallTokens) => ({
  ...period,
  ...withSaved(all),
  days: days.map(withSaved),
  tools: tools.map(withSaved),
})

export const callTokensRoutes: FastifyPluginAsyncZod<{ callTokens: CallTokensOf }> = async (app, { callTokens }) => {
  const routes = resourceRoutes(app, { access: 'user', tags: ['execution'] })

  routes.get(
    '/servers/:uuid/executions/tokens',
    {
      summary: 'Get the tokens of results and the tokens saved, by tool and by day',
      params: serverParams,
      querystring: CallTokensQuery,
    },
    { schema: CallTokensView, toView: toCallTokensView },
    ({ actor, params, query }) => callTokens.ofServer(actor, params.uuid, query),
  )
}
