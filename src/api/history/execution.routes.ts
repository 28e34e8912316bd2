import type { FastifyPluginAsyncZod } from 'fastify-type-provider-zod'
import { signalOf } from '../../lib/http/gone.ts'
import { resourceRoutes } from '../../lib/http/resource-routes.ts'
import { serverParams, uuidParams } from '../../lib/http/schemas.ts'
import type { ExecutionService } from '../../runtime/execution.service.ts'
import {
  CallArguments,
  CallToolResultView,
  ExecutionDetailView,
  ExecutionPageView,
  ExecutionQuery,
  TestArguments,
  ToolTestView,
} from './executions.schema.ts'
import { toExecutionDetailView, toExecutionView, toResultView, toToolTestView } from './executions.view.ts'

const params = uuidParams

const executionView = { schema: ExecutionDetailView, toView: toExecutionDetailView }
const executionsView = {
  schema: ExecutionPageView,
  toView: ({ items, ...page }: Awaited<ReturnType<ExecutionService['listExecutions']>>) => ({
    ...page,
    items: items.map(toExecutionView),
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
    { summary: 'List the calls of a server, newest first', params: serverParams, querystring: ExecutionQuery },
    executionsView,
    ({ actor, params, query, reply }) =>
      execution.listExecutions(actor, { serverId: params.uuid }, query, signalOf(reply)),
  )
  routes.get(
    '/organizations/:id/executions',
    { summary: 'List the calls of an organization, newest first', params, querystring: ExecutionQuery },
    executionsView,
    ({ actor, params, query, reply }) =>
      execution.listExecutions(actor, { organizationId: params.id }, query, signalOf(reply)),
  )
  routes.get('/executions/:id', { params }, executionView, ({ actor, params }) =>
    execution.getExecution(actor, params.id),
  )
}
