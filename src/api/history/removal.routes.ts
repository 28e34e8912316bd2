import type { FastifyPluginAsyncZod } from 'fastify-type-provider-zod'
import { z } from 'zod'
import { filterFields } from '../../history/query/execution-filters.ts'
import { signalOf } from '../../lib/http/gone.ts'
import { pageQuery } from '../../lib/http/paging.ts'
import { resourceRoutes, viewAsIs } from '../../lib/http/resource-routes.ts'
import { serverParams, uuidParams } from '../../lib/http/schemas.ts'
import type { CallHistory } from '../../runtime/history/call-history.service.ts'

const RemovalQuery = z.strictObject({
  ...filterFields,
  cursor: pageQuery.shape.cursor.describe('nextCursor of the previous request, with the same filters'),
})

const RemovalView = z.object({
  removed: z.int().describe('calls deleted by this request'),
  nextCursor: z
    .string()
    .nullable()
    .describe('set if there is more to delete than fits into a request (10 seconds); send it to go on'),
})

/** Deletion of the calls of a server, and of an organization. */
export const callRemovalRoutes: FastifyPluginAsyncZod<{ callHistory: CallHistory }> = async (app, { callHistory }) => {
  const remove = resourceRoutes(app, { access: 'user', tags: ['execution'] }).route('DELETE', 200)

  remove(
    '/servers/:uuid/executions',
    { summary: 'Delete the calls of a server that match the filters', params: serverParams, querystring: RemovalQuery },
    viewAsIs(RemovalView),
    ({ actor, params, query, reply }) =>
      callHistory.removeExecutions(actor, { serverId: params.uuid }, query, signalOf(reply)),
  )
  remove(
    '/organizations/:id/executions',
    {
      summary: 'Delete the calls of an organization that match the filters',
      params: uuidParams,
      querystring: RemovalQuery,
    },
    viewAsIs(RemovalView),
    ({ actor, params, query, reply }) =>
      callHistory.removeExecutions(actor, { organizationId: params.id }, query, signalOf(reply)),
  )
}
