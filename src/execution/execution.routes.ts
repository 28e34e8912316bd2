import type { FastifyPluginAsyncZod } from 'fastify-type-provider-zod'
import { z } from 'zod'
import { actorOf, pageOf, uuidParam, uuidParams } from '../platform/http/index.ts'
import type { ExecutionService } from './execution.service.ts'
import {
  CallArguments,
  CallToolResultView,
  ExecutionQuery,
  ExecutionView,
  GapView,
  TestArguments,
  ToolTestView,
} from './executions.schema.ts'
import { toExecutionView, toGapView, toResultView, toToolTestView } from './executions.view.ts'

const config = { access: 'user' } as const
const tags = ['execution']
const serverParams = z.object({ uuid: uuidParam })
const ExecutionPage = pageOf(ExecutionView).extend({
  gaps: z.array(GapView).describe('records that could not be kept in this time'),
})

export const executionRoutes =
  ({ execution }: { execution: ExecutionService }): FastifyPluginAsyncZod =>
  async app => {
    app.post(
      '/tools/:id/test',
      { config, schema: { tags, params: uuidParams, body: TestArguments, response: { 200: ToolTestView } } },
      async request => {
        const { arguments: args, serverId } = request.body
        return toToolTestView(await execution.testTool(actorOf(request), request.params.id, args, serverId))
      },
    )

    app.post(
      '/instances/:id/call',
      { config, schema: { tags, params: uuidParams, body: CallArguments, response: { 200: CallToolResultView } } },
      async request =>
        toResultView(await execution.callInstance(actorOf(request), request.params.id, request.body.arguments)),
    )

    app.get(
      '/servers/:uuid/executions',
      {
        config,
        schema: { tags, params: serverParams, querystring: ExecutionQuery, response: { 200: ExecutionPage } },
      },
      async request => {
        const { from, to, ...query } = request.query
        const { items, nextCursor, gaps } = await execution.listExecutions(actorOf(request), request.params.uuid, {
          ...query,
          from: from === undefined ? undefined : new Date(from),
          to: to === undefined ? undefined : new Date(to),
        })
        return { items: items.map(toExecutionView), nextCursor, gaps: gaps.map(toGapView) }
      },
    )

    app.get(
      '/executions/:id',
      { config, schema: { tags, params: uuidParams, response: { 200: ExecutionView } } },
      async request => toExecutionView(await execution.getExecution(actorOf(request), request.params.id)),
    )
  }
