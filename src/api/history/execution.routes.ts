import type { FastifyPluginAsyncZod } from 'fastify-type-provider-zod'
import { z } from 'zod'
import { actorOf } from '../../lib/http/access.ts'
import { signalOf } from '../../lib/http/gone.ts'
import { pageOf } from '../../lib/http/paging.ts'
import { uuidParam, uuidParams } from '../../lib/http/schemas.ts'
import type { ExecutionService } from '../../runtime/execution.service.ts'
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
  gaps: z.array(GapView).describe('records lost in this period'),
})

export const executionRoutes =
  ({ execution }: { execution: ExecutionService }): FastifyPluginAsyncZod =>
  async app => {
    app.post(
      '/tools/:id/test',
      { config, schema: { tags, params: uuidParams, body: TestArguments, response: { 200: ToolTestView } } },
      async (request, reply) => {
        const { arguments: args, serverId } = request.body
        const signal = signalOf(reply)
        return toToolTestView(await execution.testTool(actorOf(request), request.params.id, args, serverId, signal))
      },
    )

    app.post(
      '/instances/:id/call',
      { config, schema: { tags, params: uuidParams, body: CallArguments, response: { 200: CallToolResultView } } },
      async (request, reply) => {
        const { params, body } = request
        return toResultView(await execution.callInstance(actorOf(request), params.id, body.arguments, signalOf(reply)))
      },
    )

    app.get(
      '/servers/:uuid/executions',
      {
        config,
        schema: { tags, params: serverParams, querystring: ExecutionQuery, response: { 200: ExecutionPage } },
      },
      async request => {
        const { params, query } = request
        const { items, nextCursor, gaps } = await execution.listExecutions(actorOf(request), params.uuid, query)
        return { items: items.map(toExecutionView), nextCursor, gaps: gaps.map(toGapView) }
      },
    )

    app.get(
      '/executions/:id',
      { config, schema: { tags, params: uuidParams, response: { 200: ExecutionView } } },
      async request => toExecutionView(await execution.getExecution(actorOf(request), request.params.id)),
    )
  }
