import type { FastifyPluginAsyncZod } from 'fastify-type-provider-zod'
import { z } from 'zod'
import type { TokenSums } from '../../history/tool-days.store.ts'
import { actorOf } from '../../lib/http/access.ts'
import { uuidParam } from '../../lib/http/schemas.ts'
import type { CallTokens, CallTokensOf } from '../../results/ledger/call-tokens.ts'
import { CallTokensQuery, CallTokensView } from './call-tokens.schema.ts'

const config = { access: 'user' } as const
const tags = ['execution']
const params = z.object({ uuid: uuidParam })

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

export const callTokensRoutes =
  ({ callTokens }: { callTokens: CallTokensOf }): FastifyPluginAsyncZod =>
  async app => {
    app.get(
      '/servers/:uuid/executions/tokens',
      {
        config,
        schema: {
          tags,
          summary: 'Get the tokens of results and the tokens saved, by tool and by day',
          params,
          querystring: CallTokensQuery,
          response: { 200: CallTokensView },
        },
      },
      async request =>
        toCallTokensView(await callTokens.ofServer(actorOf(request), request.params.uuid, request.query)),
    )
  }
