import type { FastifyPluginAsyncZod } from 'fastify-type-provider-zod'
import { z } from 'zod'
import { signalOf } from '../../lib/http/gone.ts'
import { pageOf } from '../../lib/http/paging.ts'
import { resourceRoutes } from '../../lib/http/resource-routes.ts'
import { serverParams, uuidParams } from '../../lib/http/schemas.ts'
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
import { toExecutionView, toResultView, toToolTestView } from './executions.view.ts'

const params = uuidParams

const executionView = { schema: ExecutionView, toView: toExecutionView }
const executionsView = {
  schema: pageOf(ExecutionView).extend({ gaps: z.array(GapView).describe('records lost in this period') }),
  toView: ({ items, nextCursor, gaps }: Awaited<ReturnType<ExecutionService['listExecutions']>>) => ({
    items: items.map(toExecutionView),
    nextCursor,
    gaps,
  }),
}

export const executionRoutes: FastifyPluginAsyncZod<{ execution: ExecutionService }> = async (app, { execution }) => {
  const routes = resourceRoutes(app, { access: 'user', tags: ['execution'] })

  routes.perform(
    '/tools/:id/test',
    { params, body: TestArguments },
    { schema: ToolTestView, toView: toToolTestView },
    ({ actor, params, body, reply }) =>
      execution.testTool(actor, params.id, body.arguments, body.serverId, signalOf(reply)),
  )
  routes.perform(
    '/instances/:id/call',
    { params, body: CallArguments },
    { schema: CallToolResultView, toView: toResultView },
    ({ actor, params, body, reply }) =>
      execution.callInstance(actor, params.id, body.arguments, {
        signal: signalOf(reply),
        requestId: reply.request.id,
      }),
  )

  routes.get(
    '/servers/:uuid/executions',
    { params: serverParams, querystring: ExecutionQuery },
    executionsView,
    ({ actor, params, query }) => execution.listExecutions(actor, params.uuid, query),
  )
  routes.get('/executions/:id', { params }, executionView, ({ actor, params }) =>
    execution.getExecution(actor, params.id),
  )
}
