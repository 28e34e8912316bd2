import type { FastifyReply, FastifyRequest } from 'fastify'
import type { FastifyPluginAsyncZod } from 'fastify-type-provider-zod'
import { z } from 'zod'
import { EXPORT_FORMATS } from '../../history/export/format-calls.ts'
import { filterFields } from '../../history/query/execution-filters.ts'
import { actorOf } from '../../lib/http/access.ts'
import { sendDownload } from '../../lib/http/download.ts'
import { signalOf } from '../../lib/http/gone.ts'
import { serverParams, uuidParams } from '../../lib/http/schemas.ts'
import type { CallHistory } from '../../runtime/history/call-history.service.ts'
import type { CallPlace } from '../../servers/access/call-scope.store.ts'

const ExportQuery = z.strictObject({
  ...filterFields,
  format: z
    .enum(EXPORT_FORMATS)
    .describe(
      '`ndjson` and `json` have the fields of the list. `csv` has one line for each call; a text that a spreadsheet would run as a formula begins with an apostrophe',
    ),
})

const MEDIA_TYPES = {
  csv: 'text/csv; charset=utf-8; header=present',
  json: 'application/json; charset=utf-8',
  ndjson: 'application/x-ndjson; charset=utf-8',
} as const

/** Downloads of the calls of a server, and of an organization. */
export const exportRoutes: FastifyPluginAsyncZod<{ callHistory: CallHistory }> = async (app, { callHistory }) => {
  const send = async (
    request: FastifyRequest,
    reply: FastifyReply,
    place: CallPlace,
    { format, ...filters }: z.output<typeof ExportQuery>,
  ): Promise<FastifyReply> => {
    const parts = await callHistory.exportExecutions(actorOf(request), place, filters, format, signalOf(reply))
    return sendDownload(reply, { name: `calls.${format}`, type: MEDIA_TYPES[format] }, parts)
  }
  const schema = { tags: ['execution'], querystring: ExportQuery }

  app.get(
    '/servers/:uuid/executions/export',
    {
      config: { access: 'user' },
      schema: { ...schema, summary: 'Download the calls of a server, newest first', params: serverParams },
    },
    (request, reply) => send(request, reply, { serverId: request.params.uuid }, request.query),
  )
  app.get(
    '/organizations/:id/executions/export',
    {
      config: { access: 'user' },
      schema: { ...schema, summary: 'Download the calls of an organization, newest first', params: uuidParams },
    },
    (request, reply) => send(request, reply, { organizationId: request.params.id }, request.query),
  )
}
