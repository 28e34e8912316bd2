import type { FastifyPluginAsyncZod } from 'fastify-type-provider-zod'
import { z } from 'zod'
import type { TokenSums } from '../../history/tool-days.store.ts'
import { resourceRoutes } from '../../lib/http/resource-routes.ts'
import { uuidParam } from '../../lib/http/schemas.ts'
import type { CallTokens, CallTokensOf } from '../../results/ledger/call-tokens.ts'
import { CallTokensQuery, CallTokensView } from './call-tokens.schema.ts'

const toSumsView = ({ calls, counted, estimated, tokensBefore, tokensSent }: TokenSums) => ({
  calls,
  counted,
  estimated,
  tokensBefore,
  tokensSent,
  tokensSaved: tokensBefore - tokensSent,
})

const toCallTokensView = ({ encoding, from, to, all, days, tools }: CallTokens): z.infer<typeof CallTokensView> => ({
  encoding,
  from,
  to,
  ...toSumsView(all),
  days: days.map(({ day, ...sums }) => ({ day, ...toSumsView(sums) })),
  tools: tools.map(({ tool, ...sums }) => ({ tool, ...toSumsView(sums) })),
})

export const callTokensRoutes: FastifyPluginAsyncZod<{ callTokens: CallTokensOf }> = async (app, { callTokens }) => {
  const routes = resourceRoutes(app, { access: 'user', tags: ['execution'] })

  routes.get(
    '/servers/:uuid/executions/tokens',
    {
      summary: 'Get the tokens of results and the tokens saved, by tool and by day',
      params: z.object({ uuid: uuidParam }),
      querystring: CallTokensQuery,
    },
    { schema: CallTokensView, toView: toCallTokensView },
    ({ actor, params, query }) => callTokens.ofServer(actor, params.uuid, query),
  )
}
